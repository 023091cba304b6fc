"""Schedules that once broke the custom resource's code, and a hundred that Hypothesis draws; `make soak-ci` draws 2,400."""

from pathlib import Path

import pytest

from cluster_resource import deletion
from cluster_resource.decision import Decision, Succeed
from tests.soak import defects
from tests.soak.cloudformation import CLEAN_UPS
from tests.soak.defect import Defect
from tests.soak.run import Run, run
from tests.soak.schedule import Operation, load
from tests.soak.smallest import kinds, smallest
from tests.soak.soaking import soak
from tests.soak.subject import ROLLOUT, SUBJECTS

FOLDER = Path(__file__).parent / "schedules"
ROLLOUTS = Path(__file__).parent / "rollout" / "schedules"
OVERTAKEN = FOLDER / "entry-overtaken-before-its-start.json"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_invariant_holds_in_a_recorded_schedule(path: Path) -> None:
    outcome = run(load(path))
    assert not outcome.violations, "\n".join((*outcome.violations, *outcome.story))


@pytest.mark.parametrize("name", ["name-of-a-cluster-whose-clean-up-failed", "update-takes-back-a-cluster-whose-deletion-failed"])
def test_every_attempt_of_the_clean_up_fails_in_a_schedule_about_it(name: str) -> None:
    under_way = Run()
    for operation in load(FOLDER / f"{name}.json"):
        under_way.do(operation)
    requests = under_way.world.cloudformation.requests.values()
    first = [request for request in requests if request.purpose == "cleanup"][:CLEAN_UPS]
    assert [request.answers[0]["Status"] for request in first] == ["FAILED"] * 3
    assert len({request.physical_id for request in first}) == 1


@pytest.mark.parametrize("path", sorted(ROLLOUTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_invariant_holds_in_a_recorded_schedule_of_a_rollout(path: Path) -> None:
    subject = SUBJECTS[ROLLOUT]
    outcome = subject.run(load(path, subject.operations))
    assert not outcome.violations, "\n".join((*outcome.violations, *outcome.story))


def test_every_invariant_holds_in_forty_schedules_of_a_rollout() -> None:
    result = soak(40, seed=1, resource=ROLLOUT)
    assert result.failed is None, (result.violations, result.failed)
    assert result.richness.poor() == []


def test_every_invariant_holds_in_a_hundred_schedules() -> None:
    result = soak(100, seed=1)
    assert result.failed is None, (result.violations, result.failed)
    assert result.richness.examples == 100


def test_a_schedule_always_has_the_same_outcome() -> None:
    schedule = load(OVERTAKEN)
    assert run(schedule) == run(schedule)


def test_a_seed_always_draws_the_same_schedules() -> None:
    assert soak(10, seed=3).richness.calls == soak(10, seed=3).richness.calls


def test_a_failing_schedule_is_reduced_to_its_necessary_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster_resource.step.decide", lambda *_: Decision(Succeed("", {}), _[2]))
    schedule: list[Operation] = [{"op": "stale", "seconds": 0}, {"op": "deploy", "file": "four"}, {"op": "wait", "seconds": 1}]
    assert "false success" in kinds(run(schedule))
    assert smallest(schedule, "false success") == [{"op": "deploy", "file": "four"}]


def test_a_defect_without_a_target_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defects.DEFECTS, "lost", Defect(deletion, "no_such_name", lambda it: it))
    with pytest.raises(SystemExit, match=r"has no target: cluster_resource.deletion has no no_such_name; fix"):
        defects.plant("lost")
