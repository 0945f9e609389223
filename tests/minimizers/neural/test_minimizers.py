"""AdvTrain and MutualInf from records to generalization."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from leastwise import Attribute, DataError, Generalization, ParameterError, Schema, SchemaError, Table  # noqa: E402
from leastwise.errors import MissingExtraError  # noqa: E402
from leastwise.minimizers import MINIMIZERS, AdvTrainMinimizer, MutualInfMinimizer, watched  # noqa: E402
from leastwise.minimizers.neural import training  # noqa: E402
from leastwise.minimizers.neural.inputs import Inputs  # noqa: E402
from leastwise.minimizers.neural.minimizers import NeuralMinimizer, Schedule  # noqa: E402
from leastwise.minimizers.neural.training import AdversarialTraining  # noqa: E402
from tests.minimizers.neural.small import HELPS, LABEL, people  # noqa: E402
from tests.samples import Heard, coded  # noqa: E402

BOTH = pytest.mark.parametrize("kind", [AdvTrainMinimizer, MutualInfMinimizer])
Kind = type[NeuralMinimizer]


def test_both_are_registered_and_importing_them_does_not_import_torch() -> None:
    assert MINIMIZERS["advtrain"] is AdvTrainMinimizer
    assert MINIMIZERS["mutualinf"] is MutualInfMinimizer
    code = "import leastwise.minimizers, sys; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@BOTH
def test_without_torch_one_line_says_what_to_install(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"needs torch; install it with: .*leastwise\[neural\]"):
        kind().minimize(people(20))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "lam"), [(AdvTrainMinimizer, 0.3), (MutualInfMinimizer, 0.03)])
def test_what_helps_is_asked_and_a_secret_that_does_not_is_not(kind: Kind, lam: float) -> None:
    found = kind(lam, random_state=0).minimize(people())
    assert {"helps", "age"} <= set(found.collected)
    assert "secret" not in found.collected
    of = dict(zip(HELPS.values, found["helps"].assignment, strict=True))
    assert {of["a"], of["b"]}.isdisjoint({of["c"], of["d"]})
    assert any(44 <= edge <= 56 for edge in found["age"].edges)


def revealing() -> Table:
    """Return records in which only the secret itself helps, so that utility and privacy are at odds."""
    table = people()
    labels = (table.codes[:, 1] == 2).astype(np.uint8)
    return replace(table, labels=labels)


@BOTH
def test_a_secret_that_helps_is_asked_only_while_the_classifier_counts_more(kind: Kind) -> None:
    asked = ["secret" in kind(lam, random_state=0).minimize(revealing()).collected for lam in (0.01, 0.99)]
    assert asked == [True, False]


@BOTH
def test_at_most_k_buckets_and_none_unused(kind: Kind) -> None:
    table = people(400)
    found = kind(0.0, k=2, epochs=3, random_state=1).minimize(table)
    for j, partition in enumerate(found.partitions):
        buckets = partition.bucket_map(table.levels[j])
        assert partition.size <= 2
        assert set(buckets[table.codes[:, j]]) == set(range(partition.size))


def test_one_bucket_each_is_suppression() -> None:
    table = people(100)
    assert AdvTrainMinimizer(0.3, k=1, epochs=1).minimize(table) == Generalization.suppressed(table.schema)


@BOTH
def test_the_same_seed_gives_the_same_bytes_whatever_torch_is_set_to(kind: Kind) -> None:
    table, minimizer = people(600), kind(0.1, epochs=6, random_state=3)
    first = minimizer.propose(table)
    losses = minimizer.losses_
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(5)
        with torch.no_grad():
            second = minimizer.propose(table)
    finally:
        torch.set_default_dtype(torch.float32)
    assert first.to_json() == second.to_json()
    assert losses == minimizer.losses_


@BOTH
def test_torch_is_left_as_it_was(kind: Kind) -> None:
    torch.manual_seed(7)
    np.random.seed(7)
    before = torch.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype(), np.random.get_state()[1]
    kind(0.5, epochs=1, random_state=0).minimize(people(100))
    after = torch.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype(), np.random.get_state()[1]
    assert torch.equal(before[0], after[0])
    assert before[1:3] == after[1:3]
    assert np.array_equal(before[3], after[3])
    assert torch.is_grad_enabled()


def test_another_seed_trains_otherwise() -> None:
    losses = []
    for seed in (1, 2):
        minimizer = AdvTrainMinimizer(0.2, epochs=2, random_state=seed)
        minimizer.minimize(people(200))
        losses.append(minimizer.losses_)
    assert losses[0] != losses[1]


@BOTH
def test_a_weight_that_all_share_changes_nothing(kind: Kind) -> None:
    table, minimizer = people(400), kind(0.02, epochs=4, random_state=0)
    weighted = replace(table, weights=np.full(400, 4.0))
    assert minimizer.minimize(weighted) == minimizer.minimize(table)


def test_weights_decide() -> None:
    """In one half of the records helps decides, in the other secret; only the first half stands for people."""
    table = people(1200)
    weights = np.where(np.arange(1200) < 600, 1.0, 1e-6)
    labels = np.where(np.arange(1200) < 600, table.codes[:, 0] >= 2, table.codes[:, 1] == 0).astype(np.uint8)
    found = AdvTrainMinimizer(0.1, random_state=0).minimize(replace(table, labels=labels, weights=weights))
    assert not found["helps"].suppressed
    assert found["secret"].suppressed


def test_numbers_that_only_other_records_have_decide_nothing() -> None:
    table = people(300)
    more = replace(table, levels=(*table.levels[:2], np.append(table.levels[2], [100.0, 110.0]), table.levels[3]))
    few = AdvTrainMinimizer(0.0, epochs=4, random_state=0)
    assert few.minimize(more) == few.minimize(table)


def test_unseen_values_join_the_crowd_or_their_neighbour() -> None:
    shade = Attribute("shade", values=tuple("abcdef"), other=True)
    size = Attribute("size", "ordinal", values=tuple("stuvwx"), missing=True)
    random = np.random.default_rng(0)
    shades, sizes = random.integers(1, 3, size=400), random.choice([1, 4], size=400)
    labels = ((shades == 1) ^ (random.random(400) < 0.1)) | (sizes == 4)
    table = coded(Schema((shade, size), LABEL), shades, sizes, labels=labels)
    found = AdvTrainMinimizer(0.0, random_state=0).minimize(table)
    assert (found["shade"].size, found["size"].size) == (2, 2)
    assert len({found["shade"].bucket(value) for value in "adef"} | {found["shade"].other_bucket}) == 1
    assert [found["size"].bucket(value) for value in "stuvwx"] == [0, 0, 0, 0, 1, 1]


def test_missing_can_have_a_bucket_of_its_own_or_share_one() -> None:
    """Missing predicts the label, the numbers do not: missing alone is told apart."""
    pay = Attribute("pay", "continuous", missing=True)
    random = np.random.default_rng(0)
    codes = random.integers(0, 11, size=1000)
    table = coded(Schema((pay,), LABEL), codes, labels=codes == 10, numbers={"pay": range(10)})
    found = AdvTrainMinimizer(0.0, random_state=0).minimize(table)["pay"]
    assert found.missing_bucket not in {found.bucket(number) for number in range(10)}
    noise = replace(table, labels=random.integers(2, size=1000).astype(np.uint8))
    assert MutualInfMinimizer(0.9, random_state=0).minimize(noise)["pay"].suppressed


@pytest.mark.parametrize("rows", [1, 2, 7])
@BOTH
def test_a_handful_of_records_is_no_reason_to_fail(kind: Kind, rows: int) -> None:
    table = people(rows)
    assert len(kind(0.5, epochs=1, random_state=0).minimize(table)) == 4


def test_infinite_and_huge_numbers_are_numbers() -> None:
    number = Attribute("number", "continuous")
    codes = np.tile(np.arange(5), 40)
    numbers = {"number": [-np.inf, -1e308, 0.0, 1e308, np.inf]}
    table = coded(Schema((number,), LABEL), codes, labels=codes > 2, numbers=numbers)
    assert AdvTrainMinimizer(0.0, random_state=0).minimize(table)["number"].edges


def test_without_personal_attributes_there_is_no_adversary() -> None:
    table = people(600)
    public = replace(table, schema=table.schema.with_personal([]))
    found = [AdvTrainMinimizer(lam, epochs=5, random_state=0).minimize(public) for lam in (0.0, 0.9)]
    assert found[0] == found[1]


def test_listeners_hear_every_epoch() -> None:
    heard = Heard()
    with watched(heard):
        AdvTrainMinimizer(0.1, epochs=3, random_state=0).minimize(people(50))
    AdvTrainMinimizer(0.1, epochs=1, random_state=0).minimize(people(50))
    assert heard.steps == [(1, 3), (2, 3), (3, 3)]


def test_two_threads_train_side_by_side_and_each_hears_its_own() -> None:
    table, results = people(200), {}

    def work(seed: int) -> None:
        heard = Heard()
        with watched(heard):
            found = MutualInfMinimizer(0.05, epochs=seed + 1, random_state=seed).minimize(table)
        results[seed] = (found, heard)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, (found, heard) in results.items():
        assert found == MutualInfMinimizer(0.05, epochs=seed + 1, random_state=seed).minimize(table)
        assert [done for done, _ in heard.steps] == list(range(1, seed + 2))


@BOTH
def test_a_loss_that_is_no_number_ends_the_training_at_once(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    monkeypatch.setattr(training.Predictor, "losses", lambda self, *_: self.out[1].sum()[None] * torch.nan)
    with (
        watched(heard),
        pytest.raises(ParameterError, match=r"the loss must stay a finite number; .* epoch 1 of 20"),
    ):
        kind(0.5, random_state=0).minimize(people(100))
    assert heard.steps == []


@pytest.mark.parametrize(("lam", "waits"), [(0.0, 2), (0.5, 1)])
def test_buckets_wait_until_those_who_judge_them_have_learned(lam: float, waits: int) -> None:
    steps: list[list[float]] = []
    schedule = Schedule(epochs=6)
    inputs = Inputs.of(people(200), 3)
    objective = AdversarialTraining(inputs, 3, 1, np.random.default_rng(0))
    trainer = training.Trainer(inputs, objective, lam, 3, schedule, np.random.default_rng(0))
    for epoch in range(schedule.epochs):
        trainer.epoch(epoch)
        steps.append(trainer.network.logits.flatten().tolist())
    moved = [before != after for before, after in itertools.pairwise(steps)]
    assert moved == [epoch + 1 >= waits for epoch in range(5)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lam": -0.1}, "lam must be between 0.0 and 1.0"),
        ({"lam": 1.5}, "lam must be between 0.0 and 1.0"),
        ({"lam": float("nan")}, "lam must be between"),
        ({"k": 0}, "k must be a whole number"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"epochs": 0}, "epochs must be a whole number"),
    ],
)
@BOTH
def test_wrong_parameters_are_refused(kind: Kind, wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        kind(**wrong).minimize(people(10))  # type: ignore[arg-type]


@BOTH
def test_records_and_a_label_are_needed(kind: Kind) -> None:
    table = people(10)
    with pytest.raises(DataError, match="training needs records"):
        kind().minimize(table.take(np.arange(0)))
    with pytest.raises(SchemaError, match="needs a label"):
        kind().minimize(replace(table, schema=Schema(table.schema.attributes), labels=None))
