"""``leastwise.yaml``: the task, what must be kept, and the generalization that was chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from leastwise.checks.drifting import DriftLimits
from leastwise.errors import ArtefactError
from leastwise.exports import FormTexts, Notice
from leastwise.minimizers.constraints import Constraints
from leastwise.runs.budget import Budget

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
        The records; None where they are named on the command line.
    label, personal
        The column to predict, and the personal attributes (None: as the schema says, or all discrete ones).
    schema
        A schema file; None: inferred from the records.
    missing
        Texts that mean "no answer".
    drop, keep, discrete, continuous, at_least
        How a schema is inferred.
    """

    data: Path | None = None
    label: str | None = None
    personal: tuple[str, ...] | None = None
    schema: Path | None = None
    missing: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    discrete: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    at_least: int | None = None

    def options(self) -> dict[str, Any]:
        """Return what differs from the defaults, by the names of the command line's options."""
        pairs = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: value for name, (value, default) in pairs.items() if value != default}


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

    @classmethod
    def from_yaml(cls, text: str, folder: str | Path = ".") -> Policy:
        """Read a policy; an ``ArtefactError`` lists everything that is wrong with it, with the lines.

        File names in it are meant from ``folder``.
        """
        from leastwise.policy.reading import read_policy

        found, problems = read_policy(text, Path(folder))
        if found is None or problems:
            raise ArtefactError(WHAT, problems)
        return found

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
