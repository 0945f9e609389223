"""``leastwise.yaml``: the task, what must be kept, and the generalization that was chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from leastwise.checks.drifting import DriftLimits
from leastwise.documents import to_plain
from leastwise.errors import ArtefactError
from leastwise.exports import FormTexts, Notice
from leastwise.minimizers.constraints import Constraints
from leastwise.runs.budget import Budget
from leastwise.schema.names import Names

FORMAT = "leastwise-policy"
VERSION = 1
DEFAULT_FILE = "leastwise.yaml"
WHAT = "not a policy that can be used"


@dataclass(frozen=True, kw_only=True)
class PolicyTask:
    """What is predicted from what: the same words as the options of the command line.

    Attributes
    ----------
    data
        The records: a file, or the address of an engine; None where they are named on the command line.
    label, personal
        The column to predict, or several, and the personal attributes (None: as the schema says, or all discrete
        ones).
    schema
        A schema file; None: inferred from the records.
    missing
        Texts that mean "no answer".
    drop, keep, discrete, continuous, at_least
        How a schema is inferred.
    person
        The column that tells whose record each one is, where several may be one person's.
    survey_weights
        The column of survey weights.
    table, key, sample, min_count
        Of records that stay where they are: the table of a database, the column that tells records apart, how many
        are drawn to fit on, and the smallest count that leaves the engine.
    """

    data: Path | str | None = None
    label: str | tuple[str, ...] | None = None
    personal: tuple[str, ...] | None = None
    schema: Path | None = None
    missing: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    discrete: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    at_least: int | None = None
    person: str | None = None
    survey_weights: str | None = None
    table: str | None = None
    key: str | None = None
    sample: int | None = None
    min_count: int | None = None

    def options(self) -> dict[str, Any]:
        """Return what differs from the defaults, by the names of the command line's options."""
        pairs = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: value for name, (value, default) in pairs.items() if value != default}


@dataclass(frozen=True, kw_only=True)
class Processing:
    """What an impact assessment tells of the processing beside the notice; what is empty is a gap.

    Attributes
    ----------
    name
        What the processing is called.
    source
        Where the records come from.
    recipients
        Who receives them.
    rights
        How people see, correct or erase what is held of them, and object.
    controls
        What keeps others out: technical and organisational measures, one each.
    benefits
        What it is good for, and for whom.
    consultation
        Who was asked: people concerned, the data-protection officer.
    """

    name: str = ""
    source: str = ""
    recipients: str = ""
    rights: str = ""
    controls: tuple[str, ...] = ()
    benefits: str = ""
    consultation: str = ""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a ``leastwise.yaml`` says.

    Attributes
    ----------
    task
        What is predicted from what.
    budget, constraints
        What must be kept, and what every generalization must hold to.
    drift
        What counts as drift.
    generalization, promise
        The one that was chosen, and what the sample promised of it.
    previous
        Generalizations of the same people that were in use before.
    seed, quick, grid
        How candidates are made and judged.
    notice, form
        What people are told before they answer, and how they are asked.
    processing
        What an impact assessment needs beside the notice.
    decision, review_months, signers
        The decision that is in force, after how many months one is looked at again, and who may sign one: a file
        of allowed signers, with which an unsigned decision does not stand.
    groups
        Groups of people: who pays for asking less is told of them, and limits are held against them.
    names
        What people call some buckets, by attribute.
    nested
        Whether candidates must ask nothing that ``previous`` and earlier decisions did not tell.

    Examples
    --------
    >>> policy = Policy.from_yaml('''
    ... format: leastwise-policy
    ... version: 1
    ... label: income
    ... personal: [sex, race]
    ... budget: {max_error_increase: 0.01, min_adversary_error: {sex: 0.45}}
    ... ''')
    >>> policy.budget.max_error_increase, policy.task.personal
    (0.01, ('sex', 'race'))
    """

    task: PolicyTask = field(default_factory=PolicyTask)
    budget: Budget = field(default_factory=Budget)
    constraints: Constraints = field(default_factory=Constraints)
    drift: DriftLimits = field(default_factory=DriftLimits)
    generalization: Path | None = None
    promise: Path | None = None
    previous: tuple[Path, ...] = ()
    seed: int = 0
    quick: bool = False
    grid: Path | None = None
    notice: Notice = field(default_factory=Notice)
    form: FormTexts = field(default_factory=FormTexts)
    processing: Processing = field(default_factory=Processing)
    decision: Path | None = None
    review_months: int = 12
    signers: Path | None = None
    groups: tuple[str, ...] = ()
    names: Names = field(default_factory=dict)
    nested: bool = False

    def said(self) -> dict[str, str]:
        """Return all that it says, key by key, but for the names of files: what a decision is made under."""
        texts: dict[str, str] = {}
        for name in ("budget", "constraints", "drift", "notice", "processing"):
            texts |= _flat(to_plain(getattr(self, name)), f"{name}.")
        task = {key: value for key, value in self.task.options().items() if key not in ("data", "schema", "table")}
        own = {
            "groups": self.groups,
            "nested": self.nested,
            "seed": self.seed,
            "quick": self.quick,
            "review_months": self.review_months,
        }
        return texts | _flat(to_plain(task | own), "")

    @classmethod
    def from_yaml(cls, text: str, folder: str | Path = ".") -> Policy:
        """Read a policy; an ``ArtefactError`` lists everything that is wrong with it, with the lines.

        File names in it are meant from ``folder``.
        """
        from leastwise.policy.reading import read_policy

        policy, problems = read_policy(text, Path(folder))
        if policy is None or problems:
            raise ArtefactError(WHAT, problems)
        return policy

    @classmethod
    def load(cls, path: str | Path = DEFAULT_FILE) -> Policy:
        """Read a policy from a file; the file names in it are meant from its folder."""
        place = Path(path)
        try:
            text = place.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ArtefactError(f"{path}: not UTF-8 text; save it as UTF-8") from None
        except OSError as error:
            raise ArtefactError(f"{path}: {error.strerror}; write one with: leastwise init") from None
        try:
            return cls.from_yaml(text, place.parent)
        except ArtefactError as error:
            raise ArtefactError(f"{path}: {WHAT}", error.problems) from None


def _flat(value: Any, before: str) -> dict[str, str]:
    """Return a mapping of mappings as one of texts; what is not said is left out.

    >>> _flat({"a": {"b": 1, "c": None}, "d": ["x", "y"]}, "k.")
    {'k.a.b': '1', 'k.d': 'x, y'}
    """
    texts: dict[str, str] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            texts |= _flat(item, f"{before}{key}.")
        elif item not in (None, "", []):
            texts[f"{before}{key}"] = ", ".join(map(str, item)) if isinstance(item, list) else str(item)
    return texts
