"""Question by question: where the forms that others use are answered. What they ask is told in our own words."""

from __future__ import annotations

from leastwise.report.dpia.assessment import Answered

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
        ("223", "how people see their data, and take them along", ("rights",)),
        ("224", "how people have them corrected or erased", ("rights",)),
        ("225", "how people restrict the processing, or object", ("rights",)),
        ("321", "illegitimate access: impacts", ("impacts",)),
        ("322", "illegitimate access: threats", ("threats",)),
        ("323", "illegitimate access: sources", ("sources",)),
        ("324", "illegitimate access: measures", ("controls",)),
        ("325", "illegitimate access: severity", ("severity", *THREATS)),
        ("326", "illegitimate access: likelihood", ("likelihood", "controls")),
    ),
    ICO: (
        ("1", "what the project aims at", ("processing",)),
        ("2", "nature, scope, context and purposes of the processing", ("processing", "data")),
        ("3", "who was consulted, and how", ("consultation",)),
        ("4", "lawful basis, and whether the processing achieves its purpose", ("processing", "proportionality")),
        ("4", "whether there is another way to the same outcome", ("alternatives", "proportionality")),
        ("4", "how function creep is prevented", ("other_uses", "not_collected")),
        ("4", "how quality and minimisation are ensured", ("quality", "collected", "not_collected")),
        ("4", "what people are told and how their rights are supported", ("rights",)),
        ("4", "whether processors comply, and transfers are safeguarded", ("not_examined",)),
        ("5", "sources of risk and harm to people; likelihood and severity", (*RISKS, "groups")),
        ("6", "measures to reduce risk, and what remains", ("controls", *THREATS)),
        ("7", "sign-off, advice and review", ("decision", "consultation")),
    ),
    WP248: (
        ("Art. 35(7)(a)", "nature, scope, context, purposes, data, recipients, storage", ("processing", "data")),
        ("Art. 35(7)(a)", "what the data rely on, and codes of conduct", ("not_examined",)),
        ("Art. 35(7)(b)", "a definite purpose, lawful and proportionate", ("processing", "proportionality")),
        ("Art. 35(7)(b)", "data that are adequate, relevant and limited to what is necessary", NECESSITY),
        ("Art. 35(7)(b)", "limited storage", ("processing",)),
        ("Art. 35(7)(b)", "information and the rights of people", ("rights",)),
        ("Art. 35(7)(b)", "processors, transfers, prior consultation", ("not_examined",)),
        ("Art. 35(7)(c)", "origin, nature, severity and likelihood of risks: illegitimate access", RISKS),
        ("Art. 35(7)(c)", "the same: unwanted modification and disappearance", ("other_risks",)),
        ("Art. 35(7)(d)", "measures against them", ("controls",)),
        ("Art. 35(2), (9)", "advice of the officer, views of people", ("consultation",)),
    ),
    NIST: (
        ("CT.DP-P1", "limits to what can be observed and linked", ("linkability", "data")),
        ("CT.DP-P2", "limits to identifying people", ("singling_out", "controls")),
        ("CT.DP-P3", "limits to inferring about people", ("inference",)),
        ("CT.DP-P4", "configurations that collect or disclose items selectively", ("data", *NECESSITY)),
        ("CT.DP-P5", "references to an attribute (“over 18”) instead of its value", ("data", "quality")),
    ),
    ISO: (
        ("7.3", "the process under evaluation, and who was consulted", ("processing", "data", "consultation")),
        ("7.4", "privacy requirements", ("proportionality", "rights")),
        ("7.5", "risk sources; threats and their likelihood; consequences and their level", RISKS),
        ("7.5", "compliance analysis: necessity of each item", NECESSITY),
        ("7.6", "treatment of risks, and what remains", ("controls", *THREATS)),
        ("7.7", "conclusion and decisions", ("decision", "not_examined")),
        ("7.8", "summary for the public", ("summary",)),
    ),
    FIDES: (
        ("1.2, 1.3", "the purposes, and why the processing is needed", ("processing", "proportionality")),
        ("3.1, 3.3", "which data are processed, item by item", ("data",)),
        ("4.1 to 4.3, 4.5", "what it is good for, weighed against the risks", ("processing", "proportionality")),
        ("4.4", "what is at risk for people", (*THREATS, "impacts")),
        ("4.6", "whether less invasive processing would do", NECESSITY),
        ("5.3, 5.4", "how measures reduce the risk, and what remains", ("controls", *THREATS)),
        ("5.5", "who accepted what remains", ("decision",)),
        ("6.5", "safeguards of automated decisions: whether some are served worse", ("groups",)),
        ("7.1 to 7.5", "when and why it is looked at again, and what changed since", ("decision",)),
        ("9.1 to 9.3", "how people see, erase or correct what is held of them", ("rights",)),
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
