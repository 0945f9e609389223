"""``leastwise decide``, ``dpia`` and ``history``: who decided what, why, and what was decided before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import PolicyFile, app, grouped
from leastwise.cli.output import print_lines
from leastwise.cli.task import policy_beside
from leastwise.errors import ParameterError

if TYPE_CHECKING:
    from leastwise.decisions import Comment, Decision, Roles
from leastwise.cli.app import AsJson, Force
from leastwise.cli.output import check_output, print_json, print_table
from leastwise.errors import ArtefactError

UNEXPLAINED = (
    "why each question is asked is not known of this one, and dpia will ask for it: "
    "leastwise necessity {run} {records}"
)


@dataclass(frozen=True, kw_only=True)
class Deciders:
    """Who had which part in it."""

    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who proposes it and answers for it.")]
    reviewer: Annotated[str, typer.Option("--reviewer", metavar="NAME", help="Who looked it through.")] = ""
    approver: Annotated[str, typer.Option("--approver", metavar="NAME", help="Who approved it.")] = ""

    def roles(self) -> Roles:
        """Return the roles."""
        from leastwise.decisions import Roles

        return Roles(author=self.by, reviewer=self.reviewer, approver=self.approver)


@app.command()
@grouped
def decide(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    who: Deciders,
    because: Annotated[str, typer.Option("--because", metavar="TEXT", help="Why this one.")],
    candidate: Annotated[
        str | None,
        typer.Option("--candidate", metavar="ID", help="One that was attacked. Default: the recommended one."),
    ] = None,
    although: Annotated[
        str, typer.Option("--although", metavar="TEXT", help="Why it is decided although a limit is not kept.")
    ] = "",
    reasons: Annotated[
        list[str] | None,
        typer.Option("--reason", metavar="NAME=TEXT", help="Why a question is asked, or is not. Can be repeated."),
    ] = None,
    comments: Annotated[
        list[str] | None,
        typer.Option("--comment", metavar="NAME: TEXT", help="What somebody said to it. Can be repeated."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="Sign it by this key of OpenSSH: ~/.ssh/id_ed25519."),
    ] = None,
    policy: PolicyFile = None,
) -> None:
    """Decide for a candidate: writes decision.json, with who, why, and the fingerprints of all that it rests on.

    The candidate becomes the choice of the run, and the report carries the decision. What was decided before is
    kept in the folder decisions. A limit that is broken needs a written reason.

    Example: `leastwise decide run/ --candidate 3f2a81c09b7e --by "A. Author" --because "as safe, asks less"`
    """
    from leastwise.decisions import decide as put_together
    from leastwise.decisions import keep_decision, sign
    from leastwise.policy import Policy
    from leastwise.report import write_report
    from leastwise.runs import Run, pick

    stored = Run.load(run)
    agreed = policy_beside(policy, stored.task.label)
    put = partial(
        put_together,
        by=who.roles(),
        because=because,
        broken=although,
        rationale=dict(_pair(text, "=", "--reason") for text in reasons or ()),
        comments=[_comment(text) for text in comments or ()],
        policy=agreed.said() if agreed else None,
        months=(agreed or Policy()).review_months,
    )
    put(stored, candidate)  # whoever is refused has changed nothing
    if candidate is not None and candidate != stored.choice.candidate:
        stored = pick(run, candidate)
    write_report(stored)  # what is decided on is what the report says today
    decision = put(stored)
    path = keep_decision(decision, stored.evaluation(stored.choice.candidate or ""), run)
    if key is not None:
        sign(path, key)
    write_report(stored)  # and now it carries the decision, and who signed it
    print_lines(decided(decision))
    if stored.necessity is None:
        typer.echo(UNEXPLAINED.format(run=run, records=stored.task.data), err=True)
    typer.echo(f"wrote {path}{'' if key is None else f' and {path}.sig'}", err=True)


def decided(decision: Decision) -> str:
    """Say what was decided."""
    lines = [
        f"Decided on {decision.day} by {decision.roles.author}: {decision.id}, "
        f"to be looked at again by {decision.review}.",
        *(f"Although {each.limit}: {each.because}" for each in decision.broken),
    ]
    return "\n".join(lines)


def _pair(text: str, separator: str, option: str) -> tuple[str, str]:
    name, separated, said = text.partition(separator)
    if not separated or not name.strip() or not said.strip():
        raise ParameterError(
            f"{option} must be like {'age=TEXT' if separator == '=' else 'NAME: TEXT'}; got {text!r}"
        )
    return name.strip(), said.strip()


def _comment(text: str) -> Comment:
    from leastwise.decisions import Comment

    by, said = _pair(text, ":", "--comment")
    return Comment(by=by, text=said)


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
    from leastwise.documents import write_whole
    from leastwise.report.dpia import FORMATS, assess, render
    from leastwise.runs import Run
    from leastwise.validation import check_choice

    check_choice("--to", form, FORMATS)
    check_output(output, force)
    stored = Run.load(run)
    assessment = assess(stored, policy_beside(policy, stored.task.label))
    if assessment.gaps and not draft:
        raise ArtefactError(
            "an assessment cannot be written yet (--draft writes it with its gaps)", assessment.gaps
        )
    to = output or run / FORMATS[form][0]
    write_whole(to, render(assessment, form))
    typer.echo(f"wrote {to}", err=True)


@app.command()
def history(
    folder: Annotated[Path, typer.Argument(help="The project: decisions in it and in the folders below.")] = Path(
        "."
    ),
    as_json: AsJson = False,
) -> None:
    """Show all decisions of a project, the oldest first, and what each asked more or less than the one before.

    Example: `leastwise history`
    """
    from leastwise.decisions import History
    from leastwise.documents import to_plain

    decisions = History.of(folder)
    if as_json:
        print_json(
            [
                {"file": str(each.path), "changes": list(each.changes), "decision": to_plain(each.decision)}
                for each in decisions.entries
            ]
        )
        return
    if not decisions.entries:
        print_lines(f"No decision in {folder}; make one with: leastwise decide")
        return
    listing = decisions.listing()
    print_table("Decisions", listing.columns, listing.rows, listing.columns[3:7])
    typer.echo("")
    print_lines("\n".join(decisions.sentences()))
