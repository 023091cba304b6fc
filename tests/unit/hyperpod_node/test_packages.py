"""Packages that an AMI lacks."""

from __future__ import annotations

import pytest

from hyperpod_node import packages
from hyperpod_node.errors import NodeError
from hyperpod_node.system import System
from tests.unit.hyperpod_node.manual_time import ManualTime
from tests.unit.hyperpod_node.recorded_run import RecordedRun


@pytest.mark.fault(60)
def test_a_mirror_that_does_not_answer_yet_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    tries: list[str] = []

    def apt_get(arguments: tuple[str, ...], _: str | None) -> str:
        tries.append(arguments[2])
        if len(tries) < 3:
            raise NodeError("`apt-get update` ended with status 100: Temporary failure resolving")
        return ""

    run = RecordedRun({"apt-get": apt_get})
    packages.install(("mariadb-server",), System(run=run, clock=ManualTime().clock))
    assert tries == ["update", "update", "update", "install"]
    assert run.commands[-1][-1] == "mariadb-server"
    assert {words[2] for words in run.commands} == {packages.LOCK}
    assert "installing mariadb-server with apt: the image does not have it" in capsys.readouterr().out


@pytest.mark.fault(60)
def test_a_mirror_that_never_answers_ends_the_node_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    def apt_get(*_: object) -> str:
        raise NodeError("no mirror")

    with pytest.raises(NodeError, match=r"^apt's mariadb-server: gave up after .*: no mirror$"):
        packages.install(("mariadb-server",), System(run=RecordedRun({"apt-get": apt_get}), clock=ManualTime().clock))
    assert capsys.readouterr().out.splitlines()[-1].startswith("the next attempt may succeed: ")
