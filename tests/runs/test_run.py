"""The whole job on a small table: what is in the folder, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from leastwise import ArtefactError, DataError, Generalization, ParameterError, SchemaError
from leastwise.documents.journal import locked
from leastwise.evaluation import certify
from leastwise.kernels import is_compiled
from leastwise.minimizers import Constraints
from leastwise.random import generator
from leastwise.records.splitting import protocol_rows
from leastwise.runs import Budget, Entry, Grid, Options, Run, Workers, choose_again, pick, run
from leastwise.runs.earlier import Earlier
from leastwise.runs.task import SHARES
from leastwise.schema.file import load_schema
from tests.runs.conftest import Whole
from tests.runs.small import GRID, OPTIONS, SCHEMA, content, records
from tests.samples import Heard


def test_the_folder_holds_everything_but_the_report(finished: Run) -> None:
    names = {name.split("/")[0] for name in content(finished.folder)}
    assert names == {
        "task.json", "schema.yaml", "candidates.jsonl", "frontier.json", "choice.json", "recommended.json",
        "necessity.json", "generalizations", "evaluations", "digests.json",
    }  # fmt: skip
    assert stat.S_IMODE(finished.folder.stat().st_mode) == 0o700, "its schema may name what one person only has"
    assert stat.S_IMODE((finished.folder / "schema.yaml").stat().st_mode) == 0o600
    assert finished.task.data == "small.csv"
    assert load_schema(finished.folder / "schema.yaml") == SCHEMA == finished.schema
    assert (finished.task.records.train, finished.task.records.validation, finished.task.records.test) == (
        270,
        150,
        180,
    )


def test_what_is_read_is_what_was_written(finished: Run) -> None:
    again = Run.load(finished.folder)
    assert again == finished
    for point in finished.frontier.points:
        judged, found = finished.evaluation(point.id), finished.generalization(point.id)
        assert judged.fingerprint == found.fingerprint == finished.candidate(point.id).fingerprint
        assert judged.certificate is not None
        assert judged.certificate.candidates == len(finished.frontier.points)
        assert point.test.utility_risk == judged.utility.error  # type: ignore[union-attr]
        assert point.test.by_attribute == {r.attribute: r.adversary_error for r in judged["A1"].attributes}
        assert point.test.unique_people == judged["A8"].unique_people


def test_the_certificate_of_validation_pays_for_all_that_were_screened_there(finished: Run) -> None:
    assert finished.frontier.screened > len(finished.frontier.points)
    for point in finished.frontier.points:
        validation = records().split(0, SHARES).on_validation().test
        alone = certify(point.generalization, validation, candidates=finished.frontier.screened)
        assert point.validation.certified == pytest.approx(alone.mean.adversary_error_at_least)


def test_equal_generalizations_are_judged_once_and_everybody_who_found_them_is_named(finished: Run) -> None:
    prints = [candidate.fingerprint for candidate in finished.candidates]
    assert len(set(prints)) == len(prints) == finished.frontier.screened
    others = sum(len(candidate.also_found_by) for candidate in finished.candidates)
    assert 0 < others <= finished.frontier.repeated
    assert not {
        Generalization.untouched(SCHEMA).fingerprint,
        Generalization.suppressed(SCHEMA).fingerprint,
    } & {*prints}


def test_the_recommended_artefact_is_the_chosen_one_and_says_where_it_comes_from(finished: Run) -> None:
    chosen = finished.choice.candidate
    assert chosen is not None
    found = Generalization.load(finished.folder / "recommended.json")
    assert found.fingerprint == finished.candidate(chosen).fingerprint
    assert (found.origin["chosen_on"], found.origin["split_seed"]) == ("validation", 0)


def test_points_ascend_and_limits_frame_them(finished: Run) -> None:
    frontier = finished.frontier
    risks = [point.validation.utility_risk for point in frontier.points]
    assert risks == sorted(risks)
    assert frontier.untouched.adversary_error == 0
    assert all(p.test.adversary_error <= frontier.suppressed.adversary_error + 0.1 for p in frontier.points)
    assert frontier.hypervolume.validation > 0
    assert [p.id for p in frontier.points if "knee" in p.name.split(", ")] == [frontier.knees[0]]


def test_no_finer_candidate_seems_safer_than_a_coarser_one(finished: Run) -> None:
    for fine in finished.frontier.points:
        for coarse in finished.frontier.points:
            if coarse.generalization.is_coarser_than(fine.generalization):
                for part in ("validation", "test"):
                    less, more = getattr(fine, part).by_attribute, getattr(coarse, part).by_attribute
                    assert all(less[name] <= more[name] for name in more)


def test_only_in_a_quick_run_side_information_is_kept_to_the_recommended(finished: Run) -> None:
    for point in finished.frontier.points:
        attacks = {attack.adversary for attack in finished.evaluation(point.id).attacks}
        assert ("A4" in attacks) == (point.id == finished.choice.candidate)
        assert {"A1", "A2", "A7", "A8"} <= attacks


def test_the_same_command_again_changes_nothing(finished: Run, tmp_path: Path) -> None:
    before = content(finished.folder)
    run(records(), finished.folder, OPTIONS, name="small.csv")
    assert content(finished.folder) == before
    run(records(), tmp_path / "other", OPTIONS, name="small.csv", workers=Workers(2, "threading"))
    assert content(tmp_path / "other") == before


def test_what_a_person_chose_stays_under_the_same_limits_and_it_is_said(finished: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished.folder, folder)
    own = finished.choice.candidate
    other = next(point.id for point in finished.frontier.points if point.id != own)
    picked = pick(folder, other)
    before = content(folder)
    again = run(records(), folder, OPTIONS, name="small.csv")
    assert again.choice == Run.load(folder).choice == picked.choice
    kept = {name: text for name, text in content(folder).items() if name not in ("necessity.json", "digests.json")}
    assert kept == {name: before[name] for name in kept}
    assert again.necessity is not None, "of what stays"
    assert "This was chosen in the folder after the run, and stays." in str(again)
    how = f"--candidate {own}" if finished.choice.only_nearest else "--max-error-increase 0.01"
    back = f"the run chooses {own}. To have that: leastwise choose {folder} {how}"
    assert str(again).splitlines()[-2].endswith(back)
    assert "was chosen in the folder" not in str(Run.load(folder)), "it is said to whoever gave the command"

    limit = Budget(max_error_increase=0.9)
    anew = run(records(), folder, replace(OPTIONS, budget=limit), name="small.csv")
    assert anew.choice.budget == limit == Run.load(folder).choice.budget
    assert anew.notes[0].startswith("Chosen anew, because this command states other limits than the run had")
    assert anew.choice.candidate == other or f"{other}, does not stay" in anew.notes[0]
    assert anew.notes[1].startswith(
        "Chosen among the candidates of this folder, which were searched for under other"
    )
    assert not run(records(), folder, replace(OPTIONS, budget=limit), name="small.csv").notes, "nobody chose since"


def test_how_to_have_the_choice_of_the_run_is_no_command_that_is_refused(finished: Run) -> None:
    """Whoever states the default limit, which nothing keeps, is given nothing, and not the nearest."""
    picked = replace(finished.choice, candidate="0" * 12)
    nearest = replace(finished.choice, nearest=finished.choice.candidate)
    assert nearest.only_nearest
    note = Earlier(picked, stays=True).note(nearest, finished.folder)
    assert note.endswith(f"leastwise choose {finished.folder} --candidate {nearest.candidate}")
    nothing = replace(finished.choice, candidate=None)
    assert Earlier(picked, stays=True).note(nothing, finished.folder).endswith("the run chooses nothing.")


def test_a_choice_under_the_limits_that_a_policy_then_states_stays(finished: Run, tmp_path: Path) -> None:
    folder, limit = tmp_path / "run", Budget(max_error_increase=0.9)
    shutil.copytree(finished.folder, folder)
    other = next(point.id for point in finished.frontier.points if point.id != finished.choice.candidate)
    picked = pick(folder, other, limit)
    again = run(records(), folder, replace(OPTIONS, budget=limit), name="small.csv")
    assert again.choice == picked.choice
    (folder / "choice.json").write_text(picked.choice.to_json().replace("picked", "chose"), encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"changed after it was judged; delete it, and give the same"):
        run(records(), folder, replace(OPTIONS, budget=limit), name="small.csv")
    (folder / "choice.json").unlink()
    assert run(records(), folder, OPTIONS, name="small.csv").choice == finished.choice


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"seed": 1}, "records differs|seed differs"),
        ({"most": 2}, "most differs"),
        ({"quick": False}, "quick differs"),
    ],
)
def test_another_task_in_the_same_folder_is_refused(finished: Run, change: dict[str, int], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        run(records(), finished.folder, replace(OPTIONS, **change), name="small.csv")  # type: ignore[arg-type]


def test_other_data_in_the_same_folder_is_refused(finished: Run) -> None:
    with pytest.raises(ParameterError, match=r"the data differs.*begin anew: fresh=True$"):
        run(records(seed=1), finished.folder, OPTIONS, name="small.csv")


def test_fresh_begins_anew_and_leaves_other_files_alone(finished: Run, tmp_path: Path) -> None:
    small = replace(OPTIONS, grid=Grid(entries=(Entry(minimizer="uniform", parameters={"k": [2, 3]}),)))
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    found = run(records(seed=1), tmp_path, small, fresh=True)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert found.task.fingerprint == Run.load(tmp_path).task.fingerprint != finished.task.fingerprint


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ParameterError, match="holds other files and no run"):
        run(records(), tmp_path, OPTIONS)
    with pytest.raises(ParameterError, match="is a file"):
        run(records(), tmp_path / "notes.txt", OPTIONS)


def test_two_processes_do_not_share_a_folder(finished: Run) -> None:
    with locked(finished.folder), pytest.raises(ParameterError, match="another process"):
        run(records(), finished.folder, OPTIONS, name="small.csv")


def test_choosing_again_rewrites_the_choice_only(finished: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    before = content(folder)
    other = max(finished.frontier.points, key=lambda point: point.validation.adversary_error)
    chosen = choose_again(folder, Budget(max_error=1.0))
    assert chosen.choice.candidate == other.id != finished.choice.candidate
    with locked(folder), pytest.raises(ParameterError, match="another process"):
        choose_again(folder, Budget(max_error=0.0))
    nothing = choose_again(folder, Budget(max_error=0.0))
    assert nothing.choice.candidate is None
    assert nothing.choice.nearest is not None
    assert Run.load(folder).choice.candidate == other.id, "what was chosen before stays"
    changed = {name for name, text in before.items() if content(folder).get(name) != text}
    assert changed == {"choice.json", "recommended.json", "digests.json"}


def test_the_first_run_says_that_it_compiles_and_finds_the_same(
    whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, compiling = Heard(), "compiling, once"
    monkeypatch.setattr("leastwise.runs.proposals.is_compiled", lambda *_: False)
    run(records(), tmp_path / "first", OPTIONS, name="small.csv", progress=told)
    assert told.words == [compiling, *(words for words in whole.heard.words if words != compiling)]
    assert content(tmp_path / "first") == whole.files


def test_a_kernel_is_compiled_once_a_machine(finished: Run, tmp_path: Path) -> None:
    assert is_compiled("backoff", "posteriors")
    code = "from leastwise.kernels import is_compiled; print(is_compiled('backoff', 'posteriors'))"
    elsewhere = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=elsewhere, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_damage_of_a_folder_is_told(finished: Run, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    candidates = tmp_path / "candidates.jsonl"
    text = candidates.read_text(encoding="utf-8")
    line = json.loads(text.splitlines()[0])
    candidates.write_text(json.dumps({**line, "asked": "x", "color": 1}) + "\n", encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"(?s)line 1: not a leastwise-candidate.*2 problems.*color.*asked"):
        Run.load(tmp_path)
    lied = [json.dumps({**json.loads(each), "answers": 1}) + "\n" for each in text.splitlines()]
    candidates.write_text("".join(lied), encoding="utf-8")
    with pytest.raises(ArtefactError, match="is not what it says"):
        Run.load(tmp_path)
    candidates.write_text(text[:-5], encoding="utf-8")
    with pytest.raises(ArtefactError, match="torn"):
        Run.load(tmp_path)
    candidates.write_text(text, encoding="utf-8")
    chosen = Run.load(tmp_path).frontier.points[0].id
    later = ("choice.json", "necessity.json", "recommended.json")
    for name in (f"evaluations/{chosen}.json", "frontier.json", "task.json", *later):
        judged = tmp_path / name
        figures = judged.read_text(encoding="utf-8")
        changed = figures.replace("0.", "0.0", 1)  # one figure, ten times smaller
        judged.write_text(changed if changed != figures else f"{figures} ", encoding="utf-8")
        with pytest.raises(ArtefactError, match="changed after it was judged"):
            Run.load(tmp_path)
        judged.write_text(figures, encoding="utf-8")
    path = tmp_path / "generalizations" / f"{chosen}.json"
    other = next(p for p in path.parent.iterdir() if p != path)
    path.write_bytes(other.read_bytes())
    with pytest.raises(ArtefactError, match="changed after it was judged"):
        Run.load(tmp_path).generalization(chosen)
    for changed in path.parent.iterdir():
        changed.write_text("{}", encoding="utf-8")
    before = content(tmp_path)
    with pytest.raises(ArtefactError):
        choose_again(tmp_path, Budget(max_error=1.0))
    assert content(tmp_path) == before, "nothing is published that nobody judged"
    frontier = tmp_path / "frontier.json"
    document = json.loads(frontier.read_text(encoding="utf-8"))
    document["suppressed_validation"]["by_attribute"] = {"zz": 0.1}
    frontier.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ArtefactError, match="not of the personal attributes"):
        Run.load(tmp_path)
    (tmp_path / "frontier.json").unlink()
    with pytest.raises(ParameterError, match="not finished"):
        Run.load(tmp_path)
    with pytest.raises(ParameterError, match="is no run"):
        Run.load(tmp_path / "nowhere")


def test_a_failing_minimizer_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    # No leaf can hold so many people as there are none: the tree finds nothing; apt fails on its parameter.
    grid = Grid(entries=(Entry(minimizer="apt", parameters={"max_depth": -1}), *GRID.entries[1:2]))
    found = run(records(), tmp_path, replace(OPTIONS, grid=grid))
    (failure,) = found.failures
    assert failure.minimizer == "apt"
    assert "max_depth" in failure.reason
    assert found.frontier.failed == 1
    assert {candidate.minimizer for candidate in found.candidates} == {GRID.entries[1].minimizer}


def test_when_nothing_is_proposed_it_is_told(tmp_path: Path) -> None:
    grid = Grid(entries=(Entry(minimizer="pat", parameters={"min_leaf": 10_000}),))
    with pytest.raises(DataError, match="no minimizer proposed anything"):
        run(records(), tmp_path, replace(OPTIONS, grid=grid))


def test_what_cannot_be_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    table, folder = records(), tmp_path / "run"
    with pytest.raises(DataError, match=r"at least 300 records.*got 50"):
        run(table.take(np.arange(50)), folder, OPTIONS)
    with pytest.raises(DataError, match="at least two classes"):
        run(table.take(np.flatnonzero(table.y == 0)[:300].repeat(2)), folder, OPTIONS)
    with pytest.raises(SchemaError, match="at least one personal attribute"):
        run(replace(table, schema=SCHEMA.with_personal([])), folder, OPTIONS)
    with pytest.raises(SchemaError, match="needs a label"):
        run(replace(table, schema=replace(SCHEMA, label=None), labels=None), folder, OPTIONS)
    with pytest.raises(ParameterError, match=r"sex=0.9 is impossible: nobody errs more than the guess, 0\.\d+"):
        run(table, folder, Options(grid=GRID, budget=Budget(min_adversary_error={"sex": 0.9})))
    with pytest.raises(ParameterError, match="there is no attribute 'sx', did you mean 'sex'"):
        run(table, folder, Options(grid=GRID, constraints=Constraints(suppressed=["sx"])))
    assert not folder.exists()


def test_a_class_that_validation_lacks_is_told(tmp_path: Path) -> None:
    table = records()
    rare = np.zeros(len(table), dtype=np.intp)
    in_training, _, _ = protocol_rows(len(table), SHARES, generator(0, "split"))
    rare[in_training[0]] = 1
    with pytest.raises(
        DataError, match="class 'yes' of 'rich' has 1 record and none of them is in the validation part"
    ):
        run(replace(table, labels=rare), tmp_path, OPTIONS)


def test_what_is_proposed_screened_and_chosen_owes_nothing_to_the_test_part(tmp_path: Path, finished: Run) -> None:
    table = records()
    *_, tested = protocol_rows(len(table), SHARES, generator(0, "split"))
    other = np.array(table.labels)
    other[tested] = other[tested][::-1]
    found = run(replace(table, labels=other), tmp_path, OPTIONS)
    assert len(found.candidates) > 3
    assert found.candidates == finished.candidates
    assert found.choice.candidate == finished.choice.candidate
    assert [p.test for p in found.frontier.points] != [p.test for p in finished.frontier.points]


def test_where_no_question_seems_to_tell_anything_but_all_together_do_they_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few training records may tell of no question, where to ask nothing costs what validation clearly tells."""
    module = import_module("leastwise.runs.run")  # the door's ``run`` is the function
    monkeypatch.setattr(module, "find_silent", lambda job: job.split.train.schema.names)
    found = run(records(), tmp_path / "told", OPTIONS)
    assert found.frontier[found.choice.candidate or ""].asked > 0
    table = records()
    noise = replace(table, labels=generator(100, "noise").permutation(table.y))
    nothing = run(noise, tmp_path / "noise", OPTIONS)
    assert nothing.frontier[nothing.choice.candidate or ""].asked == 0


def test_a_setting_that_only_one_task_has_makes_it_another(finished: Run) -> None:
    with pytest.raises(ParameterError, match="person differs"):
        run(records(), finished.folder, replace(OPTIONS, person="id"), name="small.csv")
