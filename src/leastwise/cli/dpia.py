"""``leastwise dpia``: the impact assessment, written from the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli.app import Force, PolicyFile, app
from leastwise.cli.output import check_output
from leastwise.cli.task import policy_beside
from leastwise.errors import ArtefactError


@app.command()
def dpia(
    run: Annotated[Path, typer.Argument(help="The folder of a run, with its decision.")],
    form: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="markdown, html, docx, cnil-pia (the PIA tool) or json.")
    ] = "markdown",
    policy: PolicyFile = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="Write it although something is missing; the gaps are marked in it.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to. Default: dpia.md, .html, ... in the run.")
    ] = None,
    force: Force = False,
) -> None:
    """Write the impact assessment: each item's necessity, alternatives, what remains at risk, who decided.

    Purpose, controller, legal basis, retention, recipients and rights come from the policy; what is missing is
    listed all at once, and nothing is written. Severity and likelihood are left for a person.

    Example: `leastwise dpia run/ --to html`
    """
    from leastwise.decisions.dpia import FORMATS, assess, render
    from leastwise.documents import write_whole
    from leastwise.runs import Run
    from leastwise.validation import check_choice

    check_choice("--to", form, FORMATS)
    check_output(output, force)
    stored = Run.load(run)
    found = assess(stored, policy_beside(policy, stored.task.label))
    if found.gaps and not draft:
        raise ArtefactError("an assessment cannot be written yet (--draft writes it with its gaps)", found.gaps)
    to = output or run / FORMATS[form][0]
    write_whole(to, render(found, form))
    typer.echo(f"wrote {to}", err=True)
