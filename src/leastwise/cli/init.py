"""``leastwise init``: a commented policy to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli import app
from leastwise.cli.checked import check_target
from leastwise.cli.task import Label, Missing, Personal, names


@app.command()
def init(
    data: Annotated[str, typer.Argument(help="The sample, as the policy shall name it.")] = "people.csv",
    label: Label = None,
    personal: Personal = None,
    missing: Missing = None,
    generalization: Annotated[
        Path | None, typer.Option("--generalization", "-g", help="The generalization that was chosen.")
    ] = None,
    promise: Annotated[Path | None, typer.Option("--promise", help="What the sample promised of it.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the policy here.")] = Path(
        "leastwise.yaml"
    ),
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite a policy that exists.")] = False,
) -> None:
    """Write a policy to edit: the task, what must be kept, and what counts as drift.

    Example: `leastwise init people.csv --label income --personal sex,race -g g.json --promise promise.json`
    """
    from leastwise.policy import policy_text

    check_target(output, force, (".yaml", ".yml"))
    text = policy_text(
        data,
        label or "income",
        names(personal, ()),
        tuple(missing or ()),
        None if generalization is None else str(generalization),
        None if promise is None else str(promise),
    )
    output.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {output}; edit it, then: leastwise check {output} --data new.csv", err=True)
