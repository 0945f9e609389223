"""Models as files: skops, not pickle, so that loading one builds known types and runs no code of the file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from leastwise.documents import write_whole
from leastwise.errors import ArtefactError, DataError, MissingExtraError
from leastwise.generalization import Generalization
from leastwise.models.model import Model, ModelFacts, card

# What fitted scikit-learn classifiers hold beside what skops trusts by itself. Each of them is data, or
# (check_array and the partial around it) a check that gradient boosting makes of its input.
TRUSTED = (
    "collections.OrderedDict",
    "functools.partial",
    "numpy.dtype",
    "sklearn._loss.link.Interval",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def check_extra() -> None:
    """Complain when models cannot be saved, before one is trained for nothing."""
    if find_spec("skops") is None:
        raise MissingExtraError("skops", "models")


def _skops() -> Any:
    check_extra()
    import skops.io

    return skops.io


def save_model(model: Model, path: str | Path, *, overwrite: bool = False) -> tuple[Path, ...]:
    """Write the model, and beside it its card as Markdown and its facts as JSON; return the three paths."""
    place = Path(path)
    files = (place, place.with_suffix(".md"), place.with_suffix(".json"))
    if place.suffix in (".md", ".json"):
        raise DataError(f"{place}: a model's name must not end in .md or .json, those are its card's; use .skops")
    for file in files:
        if file.exists() and not overwrite:
            raise DataError(f"{file}: it exists already; choose another name, or overwrite it")
    facts = model.facts.to_json()
    content = {"facts": facts, "artefact": model.generalization.to_json(), "pipeline": model.pipeline}
    for file, text in zip(files, (_skops().dumps(content), card(model.facts), facts), strict=True):
        write_whole(file, text)
    return files


def load_model(path: str | Path, trusted: Sequence[str] = ()) -> Model:
    """Read a model that ``save`` wrote.

    Parameters
    ----------
    path
        The .skops file.
    trusted
        Types to accept beside those of scikit-learn, for an estimator of another package. Trusting a type lets
        the file choose what it is made of: read the list that the error shows.

    Notes
    -----
    A file cannot run code by being loaded, but a forged decision tree can make a prediction read memory it should
    not: load models only from people whose programs you would run.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    content = _loaded(path, data, trusted)
    try:
        facts, artefact, pipeline = (content[key] for key in ("facts", "artefact", "pipeline"))
        model = Model(Generalization.from_json(artefact), pipeline, ModelFacts.from_json(facts))
    except (KeyError, TypeError, AttributeError):
        raise ArtefactError(f"{path}: not a model of leastwise") from None
    model.check_fits(model.generalization)
    _check_fitted(path, model)
    return model


def _check_fitted(path: str | Path, model: Model) -> None:
    """Complain about a file whose classifier is none, is not fitted, or knows other classes than its facts."""
    from sklearn.base import is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model.pipeline)
        if model.facts.number and is_regressor(model.pipeline):
            return
        classes = {int(code) for code in model.pipeline.classes_}
    except (NotFittedError, AttributeError, TypeError, ValueError):
        raise ArtefactError(f"{path}: it holds no fitted classifier; train again") from None
    if not classes <= set(range(len(model.facts.classes))):
        raise ArtefactError(f"{path}: its classifier knows other classes than its facts name; train again")


def _loaded(path: str | Path, data: bytes, trusted: Sequence[str]) -> Any:
    io = _skops()
    try:
        strange = sorted({*io.get_untrusted_types(data=data)} - {*TRUSTED, *trusted})
        if strange:
            raise ArtefactError(
                f"{path}: it holds types that are not trusted: {', '.join(strange)}; name them to trust them, if "
                "you know where the file comes from"
            )
        return io.loads(data, trusted=[*TRUSTED, *trusted])
    except ArtefactError:
        raise
    except (BadZipFile, KeyError, ValueError, TypeError, AttributeError, ImportError, EOFError, RecursionError):
        raise ArtefactError(
            f"{path}: not a model that can be read; it is damaged, or was not written by leastwise"
        ) from None
