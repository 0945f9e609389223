"""The parameters of all minimizers as options, and a minimizer from what was typed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.errors import ParameterError, shorten
from leastwise.validation import check_choice

if TYPE_CHECKING:
    from leastwise.minimizers import Minimizer


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel="Parameters of minimizers")


# Read as texts: whether a number is meant, and which, only the minimizer knows.
K = Annotated[str | None, _option("--k", "N", "How many buckets, or attributes.")]
Method = Annotated[str | None, _option("--method", "NAME", "How attributes are scored (feature-selection).")]
Alpha = Annotated[str | None, _option("--alpha", "0..1", "Weight of privacy (pat).")]
Lam = Annotated[str | None, _option("--lam", "X", "Weight of privacy (λ of advtrain, mutualinf, optimal).")]
Epochs = Annotated[str | None, _option("--epochs", "N", "How long to train (advtrain, mutualinf).")]
Threshold = Annotated[str | None, _option("--threshold", "0..1", "Classifier error that iterative may reach.")]
TargetAccuracy = Annotated[
    str | None, _option("--target-accuracy", "0..1", "Accuracy relative to a classifier's (apt).")
]
Retrain = Annotated[
    str | None, _option("--retrain", "true|false", "Will the classifier be trained on generalized records? (apt)")
]
MaxErrorIncrease = Annotated[
    str | None, _option("--max-error-increase", "0..1", "How much more often the classifier may err (coarsening).")
]
Mu = Annotated[
    str | None, _option("--mu", "X", "Lagrange multiplier of the classifier error, fixed (coarsening).")
]
SurrogateName = Annotated[
    str | None, _option("--surrogate", "NAME", "Who tells each value's effect (optimal, coarsening).")
]
Leaves = Annotated[str | None, _option("--leaves", "N", "Most leaves of the tree (pat).")]
MinLeaf = Annotated[str | None, _option("--min-leaf", "N", "Fewest records in a leaf (pat).")]
MinBucket = Annotated[str | None, _option("--min-bucket", "N", "Fewest records in a bucket, or their share.")]
MinJoint = Annotated[str | None, _option("--min-joint", "N", "Fewest records in a joint bucket, or their share.")]
Weights = Annotated[
    list[str] | None, _option("--weight", "NAME=W", "Weight of a personal attribute. Can be repeated.")
]
More = Annotated[list[str] | None, _option("--set", "NAME=VALUE", "Any other parameter. Can be repeated.")]

# What the command line calls a constructor's parameter, where that is not its own name.
SHORTER = {"max_leaves": "leaves", "random_state": "seed"}
FLOOR = ("min_bucket", "min_joint")
# The parameters that have an option of their own; all others are given by --set.
DEDICATED = frozenset(
    {"k", "method", "alpha", "lam", "epochs", "threshold", "target_accuracy", "retrain", "max_error_increase"}
    | {"mu", "surrogate", "leaves", "min_leaf", *FLOOR, "weights", "seed"}
)
# These come from the data and the schema options, or are objects that only a program has.
GIVEN = frozenset({"schema", "personal", "model", "constraints"})


def from_options(name: str, typed: Mapping[str, Any]) -> tuple[Minimizer, dict[str, Any]]:
    """Return the minimizer that a command's options describe, and the floor that its result must be brought to.

    Parameters
    ----------
    name
        Of the minimizer.
    typed
        By the command's parameter, what was typed; None where nothing was.
    """
    given = {option: typed[option] for option in DEDICATED - {"weights", "seed"} if typed[option] is not None}
    given |= {"weights": pairs("--weight", typed["weight"])} if typed["weight"] else {}
    floor = (
        {} if _has_floor(name) else {option: value_of(given.pop(option)) for option in FLOOR if option in given}
    )
    return build(name, given | pairs("--set", typed["more"] or []), typed["seed"]), floor


def _has_floor(name: str) -> bool:
    from leastwise.minimizers import MINIMIZERS

    return name in MINIMIZERS and "min_bucket" in parameters(MINIMIZERS[name])


def pairs(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """Read name=value texts."""
    parted = [text.rpartition("=") for text in texts]
    for text, (name, _, value) in zip(texts, parted, strict=True):
        if not name or not value:
            raise ParameterError(f"{option} must be name=value; got {shorten(text)}")
    return {name: value_of(value) for name, _, value in parted}


def build(name: str, given: Mapping[str, Any], seed: int) -> Minimizer:
    """Make a minimizer of that name with the parameters that were typed."""
    from leastwise.minimizers import MINIMIZERS

    kind = MINIMIZERS[check_choice("--minimizer", name, MINIMIZERS)]
    parameter_of = {
        option: parameter for parameter in parameters(kind) for option in (parameter, _short(parameter))
    }
    arguments: dict[str, Any] = {"random_state": seed}
    for option, value in given.items():
        parameter = parameter_of.get(option.replace("-", "_"))
        if parameter is None:
            taken = ", ".join(option_of(parameter) for parameter in parameters(kind))
            raise ParameterError(f"minimizer {name} takes {taken}; got {_given_as(option)}")
        if parameter in arguments:
            raise ParameterError(f"give {parameter} once only, by {option_of(parameter)}")
        arguments[parameter] = value_of(value) if isinstance(value, str) else value
    return kind(**arguments)


def _given_as(option: str) -> str:
    from leastwise.minimizers import MINIMIZERS

    if option not in DEDICATED:
        return f"--set {shorten(option)[1:-1]}=..."
    takers = [name for name, kind in MINIMIZERS.items() if option in map(_short, parameters(kind))]
    return f"{option_of(option)}, an option of {', '.join(takers)}"


def parameters(kind: type[Minimizer]) -> dict[str, Any]:
    """Return the parameters of a minimizer's constructor with their defaults."""
    found = inspect.signature(kind).parameters.values()
    return {parameter.name: parameter.default for parameter in found if parameter.name not in GIVEN}


def _short(parameter: str) -> str:
    return SHORTER.get(parameter, parameter)


def option_of(parameter: str) -> str:
    """Return how a parameter is given on the command line.

    >>> option_of("max_leaves"), option_of("min_leaf"), option_of("patience")
    ('--leaves', '--min-leaf', '--set patience=...')
    """
    short = _short(parameter)
    if short not in DEDICATED:
        return f"--set {short}=..."
    return "--weight" if short == "weights" else f"--{short}".replace("_", "-")


def value_of(text: str) -> Any:
    """Read a number, true or false where one is written; the minimizer checks it.

    >>> value_of("3"), value_of("0.5"), value_of("True"), value_of("anova")
    (3, 0.5, True, 'anova')
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
