"""``leastwise collect``: a service that accepts generalized records only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli.app import Force, Spreadsheet, Trust, app, load, put_to_use
from leastwise.cli.output import check_output, write_frame
from leastwise.documents.wording import counted
from leastwise.errors import DataError

Artefacts = Annotated[
    list[Path],
    typer.Argument(help="The generalizations whose records are accepted (JSON, or run folders), the newest last."),
]
Database = Annotated[
    str, typer.Option("--db", help="Where records are kept: sqlite:///records.db or postgresql://user@host/name.")
]
Host = Annotated[str, typer.Option("--host", help="The address to listen on; only this machine by default.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0 takes a free one.")]
ModelFile = Annotated[
    Path | None, typer.Option("--model", help="A model of `leastwise train`; answers POST /predict.")
]
WithLabel = Annotated[bool, typer.Option("--with-label", help="Records may carry the label, for training.")]
Rate = Annotated[
    float, typer.Option("--rate", min=0, help="Requests a minute and client, with bursts of as many; 0: no limit.")
]
BodyLimit = Annotated[int, typer.Option("--body-limit", min=1000, help="The largest request, in bytes.")]
BatchLimit = Annotated[int, typer.Option("--batch-limit", min=1, help="The most records in one request.")]
Proxy = Annotated[
    str | None,
    typer.Option("--proxy", help="The address of a reverse proxy, whose X-Forwarded-For tells who the client is."),
]
SealTo = Annotated[
    Path | None,
    typer.Option("--seal-to", help="A public key of `leastwise keys`: records are encrypted, not readable here."),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        help="A leastwise.yaml: its notice, texts and languages are the form's, its keep_days are kept.",
    ),
]
KeepDays = Annotated[
    int | None, typer.Option("--keep-days", min=1, help="Erase records that are older; without it they are kept.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Log problems only, not each request.")]


@app.command()
def collect(
    generalizations: Artefacts,
    db: Database = "sqlite:///records.db",
    host: Host = "127.0.0.1",
    port: Port = 8000,
    model: ModelFile = None,
    trust: Trust = None,
    with_label: WithLabel = False,
    rate: Rate = 600.0,
    body_limit: BodyLimit = 1_000_000,
    batch_limit: BatchLimit = 1_000,
    proxy: Proxy = None,
    seal_to: SealTo = None,
    keep_days: KeepDays = None,
    policy: PolicyFile = None,
    quiet: Quiet = False,
) -> None:
    """Collect generalized records: a form for people, an HTTP interface for programs.

    Anything but a generalized record (an exact age, an unknown key) is refused, and neither logged nor stored.
    LEASTWISE_TOKEN in the environment opens the export, GET /records.

    Examples:

    `leastwise collect g.json --db sqlite:///records.db`

    `leastwise collect old.json g.json --db postgresql://app@db/records --model model.skops --proxy 127.0.0.1`
    """
    asked = [load(path) for path in generalizations]
    from leastwise.collector.app import is_loopback, make_app, serve
    from leastwise.collector.sealing import PUBLIC, read_key
    from leastwise.collector.security import Settings, token_from_environment
    from leastwise.collector.store import Store
    from leastwise.exports import FormTexts

    said = None
    if policy is not None:
        from leastwise.policy import (
            Policy,
        )  # a policy knows of runs and minimizers: a collector need not load them

        said = Policy.load(policy)
    notice = None if said is None else said.notice
    settings = Settings(
        with_label=with_label,
        body_limit=body_limit,
        batch_limit=batch_limit,
        rate=rate,
        keep_days=keep_days or (notice.keep_days if notice else None),
        notice=notice and replace(notice, keep_days=keep_days or notice.keep_days),
        form=said.form if said else FormTexts(),
        token=token_from_environment(),
    )
    port = _free_port(host, port)
    answering = None
    if model is not None:
        from leastwise.models import load_model

        answering = load_model(model, trust or ())
    store = Store.open(db, public=b"" if seal_to is None else read_key(seal_to, PUBLIC))
    try:
        service = make_app(asked, store, settings, answering)
        _say_where(host, port, is_loopback(host))
        for path in generalizations:
            put_to_use(path)
        serve(service, host, port, proxy=proxy, quiet=quiet)
    finally:
        store.close()


@app.command()
def keys(
    private: Annotated[
        Path, typer.Argument(help="Where the private key goes (records.key); keep it off the server.")
    ],
    force: Force = False,
) -> None:
    """Make a pair of keys: a collector seals records to the public one, only the private one opens them.

    Example: `leastwise keys records.key`, then `leastwise collect g.json --seal-to records.pub`
    """
    public = private.with_suffix(".pub")
    for path in (private, public):
        check_output(path, force)
    from leastwise.collector.sealing import make_keys

    make_keys(private, public)
    typer.echo(f"wrote {private} (keep it safe and off the server) and {public} (for --seal-to)", err=True)


@app.command()
def records(
    db: Annotated[str, typer.Argument(help="Where records are kept: sqlite:///records.db or postgresql://...")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write: .csv, .parquet or .ndjson.")],
    generalization: Annotated[
        str | None, typer.Option("--generalization", help="A fingerprint or its beginning; the newest by default.")
    ] = None,
    spreadsheet: Spreadsheet = False,
    force: Force = False,
) -> None:
    """Write the records that a collector stored to a file.

    Sealed records are opened by the private key in the file that LEASTWISE_KEY_FILE names.

    Example: `LEASTWISE_KEY_FILE=records.key leastwise records sqlite:///copy.db -o records.csv`
    """
    check_output(output, force, (".csv", ".parquet", ".ndjson"))
    from leastwise.apply.stream import without_formulas
    from leastwise.collector import read_records

    frame = read_records(db, generalization)
    write_frame(without_formulas(frame) if spreadsheet and output.suffix.lower() == ".csv" else frame, output)
    typer.echo(f"wrote {counted(frame.height, 'record')} to {output}", err=True)


@app.command()
def audit(
    db: Annotated[str, typer.Argument(help="Where records are kept: sqlite:///records.db or postgresql://...")],
) -> None:
    """Show the audit log of a collector, and check that no entry was changed or left out; exit 1 if one was.

    Example: `leastwise audit sqlite:///records.db`
    """
    from leastwise.collector.store import read_audit

    entries = read_audit(db)
    for entry, unchanged in entries:
        mark = "" if unchanged else "  CHANGED"
        typer.echo(f"{entry.number:>6} {entry.time:<20} {entry.event:<10} {entry.details}{mark}")
    if not all(unchanged for _, unchanged in entries):
        typer.secho("the log was changed, or was written with another secret", err=True, fg=typer.colors.RED)
        raise typer.Exit(1)
    if entries:
        typer.echo(f"unchanged; the last digest: {entries[-1][0].digest.hex()}", err=True)


def _say_where(host: str, port: int, safe: bool) -> None:
    if not safe:
        text = "other machines can reach it, without encryption; put a reverse proxy with TLS in front of it"
        typer.secho(f"warning: listening on {host}: {text}", err=True, fg=typer.colors.YELLOW)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"collecting at http://{shown}:{port} (stop with Ctrl-C)", err=True)


def _free_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0; complain now if nobody can listen there."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no such port"
            raise DataError(f"cannot listen on {host}:{port}: {reason}; choose another --host or --port") from None
        return int(probe.getsockname()[1])
