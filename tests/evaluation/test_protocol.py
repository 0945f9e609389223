"""The whole judgement: same seed same bytes, strict documents, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leastwise import Attribute, Generalization, ParameterError, Schema, SchemaError, Split, Table
from leastwise.adversaries import PAPER
from leastwise.errors import ArtefactError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.protocol import evaluate, of_the_paper
from leastwise.predictors.joint_buckets import JointBuckets
from tests.samples import Heard, coded, unlabelled


def records(people: int = 600) -> Table:
    """Numbers, values and a label that depends on both."""
    rng = np.random.default_rng(5)
    schema = Schema(
        (
            Attribute("age", "continuous", lower=0, upper=99, integer=True),
            Attribute("town", values=("a", "b", "c"), personal=True),
            Attribute("sex", values=("f", "m"), personal=True),
        ),
        Attribute("works", values=("no", "yes")),
    )
    town, sex = rng.integers(0, 3, people), rng.integers(0, 2, people)
    age = np.clip(20 + 10 * town + rng.integers(0, 30, people), 0, 99)
    return coded(schema, age, town, sex, labels=(age > 40) ^ (rng.random(people) < 0.1))


TABLE = records()
G = TABLE.generalization([np.arange(100) // 25, (0, 1, 1), (0, 0)], minimizer="by hand")
OTHER = TABLE.generalization([np.arange(100) // 50, (0, 0, 1), (0, 1)])

PLAIN = unlabelled(TABLE)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(G, TABLE, quick=True, others=[OTHER])


def test_all_adversaries_beside_their_baselines(evaluation: Evaluation) -> None:
    assert tuple(attack.adversary for attack in evaluation.attacks) == tuple(PAPER)
    for attack in evaluation.attacks:
        assert 0 <= attack.adversary_error <= 1
        assert attack.interval is None or attack.interval.low <= attack.adversary_error <= attack.interval.high
    assert evaluation["A1"]["sex"].baseline == pytest.approx(0.5, abs=0.1)
    assert evaluation["A6"]["sex"].adversary_error == 0
    assert evaluation.people.test == 180
    assert evaluation.certificate is not None
    assert evaluation.certificate.people == 180


def test_no_attack_beats_the_guesser_in_hindsight(evaluation: Evaluation) -> None:
    assert evaluation.certificate is not None
    for result in evaluation["A1"].attributes:
        bound = evaluation.certificate[result.attribute]
        assert bound.hindsight >= 1 - result.adversary_error - 1e-12
        assert bound.bound >= 1 - result.adversary_error - 1e-12


def test_another_predictor_can_attack() -> None:
    found = evaluate(Generalization(G.partitions), PLAIN, ["A1"], predictor=JointBuckets)
    # About one attribute the records tell nothing, and counting is misled.
    assert {result.predictor for result in found["A1"].attributes} == {"joint_buckets", "majority guess"}


def test_utility_lies_between_its_limit_points(evaluation: Evaluation) -> None:
    assert evaluation.utility is not None
    assert evaluation.everything is not None
    assert evaluation.nothing is not None
    assert evaluation.everything.error <= evaluation.utility.error + 0.05
    assert evaluation.utility.error <= evaluation.nothing.error


def test_same_seed_same_bytes(evaluation: Evaluation) -> None:
    assert evaluate(G, TABLE, quick=True, others=[OTHER]).to_json() == evaluation.to_json()


@pytest.mark.parametrize("name", ["A1", "A2", "A3", "A4", "A5", "A7", "A8"])
def test_leaving_adversaries_out_changes_no_figure(evaluation: Evaluation, name: str) -> None:
    alone = evaluate(G, TABLE, [name], quick=True)
    assert alone.attacks == (evaluation[name],)


def test_there_and_back(evaluation: Evaluation, tmp_path: Any) -> None:
    evaluation.save(tmp_path / "e.json")
    again = Evaluation.load(tmp_path / "e.json")
    assert again == evaluation
    assert again.to_json() == evaluation.to_json()
    assert evaluation.seconds
    assert "seconds" not in evaluation.to_json()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "x"}, "format: must be 'leastwise-evaluation'"),
        ({"version": 2}, "this release reads version 1"),
        ({"seed": "0"}, "seed: must be a whole number"),
        ({"more": 1}, "more: unknown key"),
        ({"attacks": [{"adversary": "A9"}]}, "attacks[0].adversary: must be one of A1"),
        ({"attacks": [{"adversary": "A8"}]}, "attacks[0].rarest: is missing"),
        ({"people": None}, "people: must be a mapping"),
    ],
)
def test_a_damaged_document_is_refused(evaluation: Evaluation, change: dict[str, Any], problem: str) -> None:
    document = {**json.loads(evaluation.to_json()), **change}
    with pytest.raises(ArtefactError) as caught:
        Evaluation.from_json(json.dumps(document))
    assert problem in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": 1}'])
def test_what_is_no_evaluation_is_refused(text: str) -> None:
    with pytest.raises(ArtefactError, match="not an evaluation"):
        Evaluation.from_json(text)


def test_what_the_breach_added() -> None:
    plain = Generalization(G.partitions)
    found = evaluate(plain, PLAIN, ["A3", "A4"], quick=True, without_breach=True)
    assert found["A4"]["sex"].without_breach == found["A4"]["sex"].adversary_error  # it is not collected
    assert found["A3"]["town"].without_breach > found["A3"]["town"].adversary_error
    assert found["A3"].adversary_error == evaluate(plain, PLAIN, ["A3"], quick=True)["A3"].adversary_error
    assert Evaluation.from_json(found.to_json()) == found


def test_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ParameterError, match="A6 needs another generalization"):
        evaluate(G, TABLE, ["A6"])
    with pytest.raises(ParameterError, match="did you mean 'A1'"):
        evaluate(G, TABLE, ["A11"])


def test_without_personal_attributes_only_linking_and_singling_out() -> None:
    schema = PLAIN.schema.with_personal([])
    nobody = replace(PLAIN, schema=schema)
    with pytest.raises(ParameterError, match="choose the adversaries A7 and A8"):
        evaluate(Generalization.untouched(schema), nobody, ["A1", "A8"], quick=True)
    found = evaluate(Generalization.untouched(schema), nobody, quick=True)
    assert [attack.adversary for attack in found.attacks] == ["A7", "A8"]
    assert (found.certificate, found.personal) == (None, ())
    assert Evaluation.from_json(found.to_json()) == found


def test_of_one_attribute_there_are_no_halves_to_link() -> None:
    alone = Schema(PLAIN.schema.attributes[-1:]).with_personal(PLAIN.schema.names[-1:])
    assert [each.name for each in of_the_paper(alone)] == [name for name in PAPER if name != "A7"]


def test_refuses_records_of_another_schema() -> None:
    other = Generalization.untouched(Schema(PLAIN.schema.attributes[:2]))
    with pytest.raises(SchemaError, match="same attributes and domains"):
        evaluate(other, PLAIN, ["A8"], quick=True)


def test_refuses_to_certify_records_that_chose() -> None:
    chose = TABLE.take(np.arange(200), "train")
    with pytest.raises(ParameterError, match="did not choose"):
        evaluate(G, Split(chose, chose, chose), ["A8"], quick=True)


def test_without_a_label_there_is_no_utility() -> None:
    found = evaluate(Generalization(G.partitions), PLAIN, ["A8"], quick=True)
    assert (found.utility, found.nothing, found.everything) == (None, None, None)
    assert Evaluation.from_json(found.to_json()) == found


def test_progress_is_told() -> None:
    heard = Heard()
    evaluate(Generalization(G.partitions), PLAIN, ["A8"], quick=True, progress=heard)
    assert any("A8" in words for words in heard.words)


def test_the_fingerprint_is_of_the_buckets() -> None:
    same = TABLE.generalization([np.arange(100) // 25, (0, 1, 1), (0, 0)])
    assert G.fingerprint == same.fingerprint != OTHER.fingerprint


def test_the_limit_points() -> None:
    everything = evaluate(Generalization.untouched(PLAIN.schema), PLAIN, ["A1", "A3", "A4", "A5"], quick=True)
    assert [attack.adversary_error for attack in everything.attacks] == [0, 0, 0, 0]
    nothing = evaluate(Generalization.suppressed(PLAIN.schema), PLAIN, ["A1", "A8"], quick=True)
    assert nothing["A1"].adversary_error == pytest.approx(nothing["A1"].baseline)
    assert nothing["A8"].adversary_error == 1
