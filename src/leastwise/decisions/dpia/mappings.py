"""Question by question: where the forms that others use are answered. What they ask is told in our own words."""

from __future__ import annotations

from leastwise.decisions.dpia.assessment import Answered

NECESSITY = ("collected", "not_collected", "alternatives")
THREATS = ("singling_out", "linkability", "inference")
ACCESS = ("sources", "threats", "impacts", "controls")
RISKS = (*ACCESS, *THREATS, "severity", "likelihood")

CNIL, ICO, WP248 = "CNIL PIA", "ICO DPIA template", "WP248 rev.01, Annex 2"
NIST, ISO, FIDES = "NIST Privacy Framework 1.0", "ISO/IEC 29134", "Fides assessment (CPRA)"

# By framework: the number of the question there, what it asks, and the parts that answer it.
FRAMEWORKS: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    CNIL: (
        ("111", "the processing under study", ("processing",)),
        ("112", "who is responsible", ("processing",)),
        ("121", "which data, how long kept, who sees them", ("data", "processing")),
        ("211", "whether the purposes are definite and legitimate", ("processing",)),
        ("212", "the legal ground", ("processing",)),
        ("213", "whether each item is needed (minimisation)", NECESSITY),
        ("214", "whether data are right and kept up to date", ("quality",)),
        ("215", "how long data are kept", ("processing",)),
        ("221", "how people are informed", ("rights",)),
        ("321", "illegitimate access: impacts", ("impacts",)),
        ("322", "illegitimate access: threats", ("threats",)),
        ("323", "illegitimate access: sources", ("sources",)),
        ("324", "illegitimate access: measures", ("controls",)),
        ("325", "illegitimate access: severity", ("severity", *THREATS)),
        ("326", "illegitimate access: likelihood", ("likelihood", "controls")),
    ),
    ICO: (
        ("2", "nature, scope, context and purposes of the processing", ("processing", "data")),
        ("3", "who was consulted, and how", ("consultation",)),
        ("4", "lawful basis, and whether the processing achieves its purpose", ("processing", "proportionality")),
        ("4", "whether there is another way to the same outcome", ("alternatives", "proportionality")),
        ("4", "how function creep is prevented", ("other_uses", "not_collected")),
        ("4", "how quality and minimisation are ensured", ("quality", "collected", "not_collected")),
        ("4", "what people are told and how their rights are supported", ("rights",)),
        ("5", "sources of risk and harm to people; likelihood and severity", (*RISKS, "groups")),
        ("6", "measures to reduce risk, and what remains", ("controls", *THREATS)),
        ("7", "sign-off, advice and review", ("decision", "consultation")),
    ),
    WP248: (
        ("description", "nature, scope, data, recipients and retention, described", ("processing", "data")),
        ("necessity", "a definite purpose, lawful and proportionate", ("processing", "proportionality")),
        ("necessity", "data that are adequate, relevant and limited to what is necessary", NECESSITY),
        ("necessity", "limited storage", ("processing",)),
        ("rights", "measures for the rights of people", ("rights",)),
        ("risks", "origin, nature and severity of risks: illegitimate access", (*ACCESS, *THREATS, "severity")),
        ("risks", "unwanted modification and disappearance", ("other_risks",)),
        ("parties", "advice of the officer, views of people", ("consultation",)),
    ),
    NIST: (
        ("CT.DP-P1", "limits to what can be observed and linked", ("linkability", "data")),
        ("CT.DP-P2", "limits to identifying people", ("singling_out", "controls")),
        ("CT.DP-P3", "limits to inferring about people", ("inference",)),
        ("CT.DP-P4", "configurations that collect or disclose items selectively", ("data", *NECESSITY)),
    ),
    ISO: (
        ("scope", "process under evaluation, information on it", ("processing", "data")),
        ("requirements", "privacy safeguarding requirements", ("proportionality", "rights")),
        ("assessment", "risk sources; threats and their likelihood; consequences and their level", RISKS),
        ("assessment", "compliance analysis: necessity of each item", NECESSITY),
        ("treatment", "controls and residual risk", ("controls", *THREATS)),
        ("conclusion", "conclusion and decisions", ("summary", "decision", "not_examined")),
    ),
    FIDES: (
        ("1.2, 1.3", "the purposes, and why the processing is needed", ("processing", "proportionality")),
        ("3.1, 3.3", "which data are processed, item by item", ("data",)),
        ("4.4", "what is at risk for people", (*THREATS, "impacts")),
        ("4.6", "whether less invasive processing would do", NECESSITY),
        ("5.3, 5.4", "how measures reduce the risk, and what remains", ("controls", *THREATS)),
        ("5.5", "who accepted what remains", ("decision",)),
        ("6.5", "safeguards of automated decisions: whether some are served worse", ("groups",)),
        ("7.1 to 7.5", "when and why it is looked at again, and what changed since", ("decision",)),
        ("10.1", "how long data are kept", ("processing",)),
    ),
}  # fmt: skip


def answered() -> tuple[Answered, ...]:
    """Return all questions of all frameworks, and where they are answered."""
    return tuple(
        Answered(framework=framework, number=number, asks=asks, places=places)
        for framework, questions in FRAMEWORKS.items()
        for number, asks, places in questions
    )
