"""What the numbers do not say."""

from __future__ import annotations

from leastwise.evaluation.evaluation import Evaluation

QUICK = "This was a quick run: the attacks were trained less than they can be. A full run may find more."


def limit_sentences(evaluation: Evaluation, candidates: int) -> list[str]:
    """Return the honest limits of a run; those that do not apply to it are left out."""
    sentences = [
        "Every figure is about people like those in the sample. Other places, other years or other ways of asking "
        "can give other figures; judge again on new data.",
        "The attacks A1 to A6 are the strongest we could train. Somebody may build a stronger one. What no attack "
        "can do, however clever, is said only by the certificate, and only for somebody who sees nothing but the "
        "generalized records and their labels.",
        "Attribute by attribute the error of an attacker is an average over people. A few can be told better than "
        "the average says: look at the surest guesses and at the people who are alone.",
        "An attribute counts as protected when the attacker does no better than guessing. If almost everybody has "
        "the same value, guessing is already right almost always.",
        "The error of the model is that of the best classifier we tried on these records. Your own model may err "
        "more or less, and an average can hide that some groups are served worse than others.",
        "What is not personal here was declared not to be. The report does not question that choice, nor whether "
        "the purpose itself is lawful.",
        f"Of {candidates:,} candidates one was chosen on the validation part. The figures here come from the test "
        "part, which had no say in that; chosen again with another seed, a neighbour on the frontier may win.",
    ]
    if evaluation.quick:
        sentences.append(QUICK)
    if not evaluation.personal:
        sentences.append("No attribute was declared personal, so nothing was reconstructed and nothing certified.")
    return sentences
