"""The text of a new policy: everything that can be said, with what it means beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import yaml

from leastwise.runs.budget import WORST, Budget

COLUMN = 29  # where the comments begin
COMMENTED = ("data", "label", "personal", "schema", "missing", "seed", "quick", "decision")
EXAMPLES = {
    "personal": "[sex, race]",
    "schema": "schema.yaml",
    "generalization": "g.json",
    "promise": "promise.json",
    "decision": "run/decision.json",
}
EXAMPLE_OF_LEAST = {"mean": 0.4, "sex": 0.3}
DEFAULT = Budget(max_error_increase=0.02)
LIMITS = {
    "max_error_increase": (0.02, "by how much the model may err more than with everything asked"),
    "confidence": (0.9, "how sure that limit must be kept"),
    "max_error": (0.2, "how often it may err"),
    "max_unique": (0, "how many people may be alone with their generalized record"),
    "max_unique_share": (0.001, "the same as a share of all people"),
    "max_group_gap": (0.01, "how much more one declared group may pay than another"),
    "max_group_error": (0.3, "how often it may err in any declared group"),
    "max_buckets": (40, "how many answers there may be in all"),
    "max_asked": (6, "how many questions"),
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})

TEMPLATE = """\
# What is asked of whom, and what must be kept. Checked by: leastwise check --data new.csv
format: leastwise-policy
version: 1

# The task. File names are meant from the folder of this file.
{data}
{label} # the column to predict
{personal} # what a thief must not find out; leave out: all discrete ones
{schema} # written by leastwise inspect -o, and edited; otherwise inferred from the data
{missing} # texts that mean "no answer"
{seed} # same seed, same split: every check of the same records has the same figures
{quick} # true: train less, for a first look

# What was chosen, and what the sample promised of it (leastwise check --write-promise promise.json).
{generalization}
{promise}
# previous: [g-2025.json]     # in use before, of the same people: what both tell together is checked, too
# nested: true                # runs ask nothing that earlier ones did not tell
{decision} # by leastwise decide; a check says when it must be looked at again
# review_months: 12
# signers: allowed_signers    # who may sign it, as ssh-keygen(1) wants it

# Who is told apart to see who pays for asking less; limits are in the budget.
# groups: [sex, "age[29,44,59]", "sex & race"]

# What must be kept; leave out what does not matter.
budget:
{budget}

# What every generalization must hold to; "missing" stands for no answer.
# constraints:
#   suppressed: [race]        # never asked
#   untouched: []             # asked in full
#   edges: {{age: [17, 64]}}    # limits that must stay: up to 17, 18 to 64, 65 or more
#   together: {{region: [[north, east]]}}
#   apart: {{region: [[north, south]]}}
#   max_buckets: {{age: 5}}
#   max_buckets_in_all: 40
#   min_people: 100           # no bucket used by fewer

# What people are told before they answer (leastwise collect), and with it what an impact assessment says of the
# processing (leastwise dpia).
# notice:
#   controller: Example Ltd
#   purpose: to tell who needs help
#   legal_basis: consent
#   keep_days: 180            # a collector erases what is older
#   contact: privacy@example.org
# processing:
#   name: Help with forms
#   source: people fill in a form
#   recipients: the advisers
#   rights: people see, correct and erase their answers at the contact, and may object there
#   controls: [records are sealed, access is logged]
#   benefits: people who need help are offered it
#   consultation: the data-protection officer

# What counts as drift. A check alarms although nothing changed at most this often:
drift:
  level: 0.01
  share: 0.02                 # the change of a bucket's share of the people that matters
  error: 0.01                 # the increase of the model's error
  adversary_error: 0.02       # the decrease of the adversary's error
  max_unseen: 0.001           # the share of records with a value that no attribute's domain has
"""


def policy_text(
    data: str = "people.csv",
    label: str | Sequence[str] = "income",
    personal: Sequence[str] = (),
    missing: Sequence[str] = (),
    generalization: str | None = None,
    promise: str | None = None,
    *,
    decision: str | None = None,
    schema: str | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    quick: bool = False,
    person: str | None = None,
    survey_weights: str | None = None,
    table: str | None = None,
    key: str | None = None,
    sample: int | None = None,
    min_count: int | None = None,
) -> str:
    """Return a commented policy to edit; what is not given is an example behind a comment sign."""
    said = {
        "data": _written(data),
        "label": _written(label) if isinstance(label, str) else _listed(label),
        "personal": _listed(personal) if personal else None,
        "schema": None if schema is None else _written(schema),
        "missing": _listed(missing),
        "seed": str(seed),
        "quick": str(quick).lower(),
        "generalization": None if generalization is None else _written(generalization),
        "promise": None if promise is None else _written(promise),
        "decision": None if decision is None else _written(decision),
    }
    lines = {}
    for name, text in said.items():
        line = f"{name}: {text}" if text is not None else f"# {name}: {EXAMPLES[name]}"
        lines[name] = line.ljust(COLUMN) if name in COMMENTED else line
    beside = {"person": person, "survey_weights": survey_weights}
    lines["personal"] = "\n".join([*_lines(beside), lines["personal"]])
    where = _lines({"table": table, "key": key, "sample": sample, "min_count": min_count})
    what = "the records, where they lie" if where else "the sample: CSV, Parquet or NDJSON"
    lines["data"] = "\n".join([f"{lines['data']} # {what}", *where])
    return TEMPLATE.format(**lines, budget=_budget_lines(DEFAULT if budget is None else budget))


# What few policies say: there is no example of it.
SELDOM = {
    "survey_weights": "the column that tells for how much of the population it speaks",
    "person": "the column that tells whose record each one is",
    "table": "the table of the database",
    "key": "the column that tells records apart",
    "sample": "so many are drawn to fit on; all are judged",
    "min_count": "smaller counts stay where the records are",
}


def _lines(given: Mapping[str, str | int | None]) -> list[str]:
    """Write what is given, each with what it means behind it."""
    texts = {name: _written(value) if isinstance(value, str) else value for name, value in given.items()}
    said = {name: f"{name}: {text}" for name, text in texts.items() if text is not None}
    return [f"{said[name].ljust(COLUMN)} # {words}" for name, words in SELDOM.items() if name in said]


def _budget_lines(budget: Budget) -> str:
    lines = []
    for name, (example, words) in LIMITS.items():
        value = getattr(budget, name)
        line = f"  {name}: {value}" if value is not None else f"  # {name}: {example}"
        lines.append(f"{line.ljust(COLUMN)} # {words}")
    if budget.labels_by != WORST:
        lines.append(
            f"{f'  labels_by: {budget.labels_by}'.ljust(COLUMN)} # of several labels, not the worst counts"
        )
    sign, least = ("", budget.min_adversary_error) if budget.min_adversary_error else ("# ", EXAMPLE_OF_LEAST)
    head = f"  {sign}min_adversary_error:".ljust(COLUMN)
    lines.append(f"{head} # how often A1, who stole the records, must be wrong; higher is safer")
    return "\n".join([*lines, *(f"  {sign}  {_written(name)}: {number}" for name, number in least.items())])


def _written(value: str) -> str:
    """Write a text as YAML reads it back, whatever it holds.

    >>> _written("people.csv"), _written("no"), _written("a: b")
    ('people.csv', '"no"', '"a: b"')
    """
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return yaml.dump(value, default_style='"', allow_unicode=True, width=10**9).removesuffix("\n")


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_written, values))}]"
