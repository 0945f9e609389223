"""``leastwise choose``: the best candidate of a run under a stated budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.budget import Limits, MoreLimits, budget_of
from leastwise.cli.options import grouped
from leastwise.cli.printing import print_lines
from leastwise.cli.run import NOTHING_FITS
from leastwise.errors import ParameterError


@app.command()
@grouped
def choose(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")], limits: Limits, more: MoreLimits
) -> None:
    """Choose the best candidate under a budget; rewrites the choice, recommended.json and the report.

    With a limit on the model's error the safest candidate wins, otherwise the most accurate one. Exit code 1: none
    fits; it says which limit binds and what comes nearest.

    Example: `leastwise choose run/ --max-error-increase 0.01 --min-adversary-error sex=0.3 --max-buckets 40`
    """
    from leastwise.report import write_report
    from leastwise.runs import choose_again

    budget = budget_of(limits, vars(more))
    if budget is None:
        raise ParameterError("state a budget to choose under, such as --max-error-increase 0.01; see --help")
    found = choose_again(run, budget)
    write_report(found)
    if found.choice.candidate is not None:
        print_lines(found.choice.sentence)
    print_lines(str(found))
    raise typer.Exit(0 if found.choice.candidate is not None else NOTHING_FITS)
