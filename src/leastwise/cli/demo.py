"""``leastwise demo``: the whole job on the bundled Adult data, without network and without arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli import app
from leastwise.cli.evaluate import show
from leastwise.cli.printing import print_lines, print_table

if TYPE_CHECKING:
    from leastwise.datasets import Dataset
    from leastwise.evaluation.evaluation import Evaluation
    from leastwise.generalization import Generalization
    from leastwise.minimizers import PATMinimizer

SEED = 0


@app.command()
def demo(
    to: Annotated[Path, typer.Option("--to", help="The folder for the files it writes.")] = Path("demo"),
    alpha: Annotated[float, typer.Option("--alpha", min=0, max=1, help="How much privacy counts.")] = 0.7,
    leaves: Annotated[int, typer.Option("--leaves", min=1, help="Most leaves of the tree.")] = 20,
) -> None:
    """Inspect, minimize and judge the bundled Adult data.

    Example: `leastwise demo --to demo --alpha 0.9`
    """
    from leastwise.datasets import load_adult
    from leastwise.evaluation import evaluate
    from leastwise.minimizers import PATMinimizer
    from leastwise.table import Table

    to.mkdir(parents=True, exist_ok=True)
    adult = load_adult()
    _show_records(adult)
    split = Table.from_frame(adult.frame, adult.schema).split(SEED)
    minimizer = PATMinimizer(alpha=alpha, max_leaves=leaves, random_state=SEED)
    found = minimizer.propose(split.train)
    print_lines(found.describe() + "\n")
    judged = evaluate(
        found,
        split,
        ["A1", "A8"],
        SEED,
        quick=True,
        predicates=0,
        progress=lambda words: typer.echo(f"judging: {words}", err=True),
    )
    show(judged)
    _write(to, adult, minimizer, found, judged)
    typer.echo(_answer(found, judged, to))


def _show_records(adult: Dataset) -> None:
    rows = [
        (a.name, a.kind, a.domain_text(), "personal" if a.personal else "non-personal")
        for a in adult.schema.attributes
    ]
    assert adult.schema.label is not None
    title = f"UCI Adult: {len(adult.frame):,} records; to predict: {adult.schema.label.name}"
    print_table(title, ("attribute", "kind", "domain", "role"), rows)


def _write(
    folder: Path, adult: Dataset, minimizer: PATMinimizer, found: Generalization, judged: Evaluation
) -> None:
    from leastwise.minimizers.pat import draw_svg
    from leastwise.schema_file import save_schema

    save_schema(adult.schema, folder / "schema.yaml")
    found.save(folder / "generalization.json")
    judged.save(folder / "evaluation.json")
    (folder / "tree.svg").write_text(draw_svg(minimizer.tree_), encoding="utf-8")
    (folder / "report.md").write_text(_report(found, judged), encoding="utf-8")


def _report(found: Generalization, judged: Evaluation) -> str:
    assert judged.certificate is not None
    sentences = "\n".join(f"- {sentence}" for sentence in judged.certificate.sentences())
    return (
        f"# What to ask, and what it costs\n\n{_verdict(found, judged)}\n\n## What is asked\n\n"
        f"{found.describe(markdown=True)}\n\n## The tree it came from\n\n![the privacy-aware tree](tree.svg)\n\n"
        f"## What nobody can tell, however clever\n\n{sentences}\n"
    )


def _verdict(found: Generalization, judged: Evaluation) -> str:
    assert judged.utility is not None
    assert judged.everything is not None
    attack = judged["A1"]
    values = sum(len(attribute.values) for attribute in found.schema.attributes)
    answers = found.total_buckets - len(found.not_collected)
    more = (judged.utility.error - judged.everything.error) * 100
    return (
        f"Ask {len(found.collected)} of {len(found)} questions, with {answers} answers in all "
        f"(the named values alone are {values}, the numbers come on top).\n"
        f"The model errs {abs(more):.1f} points {'more' if more >= 0 else 'less'} than with everything asked "
        f"({judged.utility.error:.3f} against {judged.everything.error:.3f}).\n"
        f"Whoever steals the records still gets {attack.adversary_error:.0%} of the personal answers wrong; "
        f"guessing without them: {attack.baseline:.0%}."
    )


def _answer(found: Generalization, judged: Evaluation, folder: Path) -> str:
    return f"\n{_verdict(found, judged)}\n\nTo look at: {folder / 'report.md'} and the files beside it"
