"""The scenarios of the adversaries in plain language: what each holds, and what it wants."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "A1": "The stolen records alone",
    "A2": "The people it is surest about",
    "A3": "Knowing everything that is not personal",
    "A4": "Knowing everything but one attribute",
    "A5": "Learning one attribute after the other",
    "A6": "Several breaches of the same people",
    "A7": "Joining two half-records",
    "A8": "Singling people out",
}

SCENARIOS: Mapping[str, str] = {
    "A1": (
        "Somebody steals the generalized records of the test people, knows which questions were asked and how, "
        "and has full records of other people from the same population. From these it learns what goes with "
        "what, and guesses every personal attribute of everybody."
    ),
    "A2": (
        "The same attacker picks, for each attribute, the people about whom its own probabilities call the guess "
        "safest. What is harmless on average may be certain for a few."
    ),
    "A3": (
        "The attacker also knows every attribute of a person that is not personal, exactly, for instance from a "
        "company that collects just those."
    ),
    "A4": (
        "The worst case: the attacker knows everything about a person exactly, except the one attribute "
        "that it wants."
    ),
    "A5": (
        "The attacker begins with everything that is not personal, tells the easiest personal attribute, then "
        "learns it exactly, tells the next, and so on."
    ),
    "A6": (
        "The same people were asked twice or more, under different generalizations, and all of it was stolen. "
        "Whatever one of them rules out is ruled out."
    ),
    "A7": (
        "Two organizations know different things about the same people, exactly, but not who is who. The attacker "
        "uses the stolen generalized records to join the halves."
    ),
    "A8": (
        "Somebody looks for a description that fits exactly one of the people behind the stolen records. It "
        "counts how many people share each generalized record: the larger the crowd, the better one hides."
    ),
}

NOT_RUN: Mapping[str, str] = {
    "A6": "It needs a second generalization of the same people, and there was none.",
}
