"""A run always tears down, and passes only checks that it observed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from tests.verify_aws import run as running
from tests.verify_aws.cdk import PROJECT, CdkError
from tests.verify_aws.checks import CHECKS, CheckFailedError, Run
from tests.verify_aws.interruption import CONTINUES, InterruptedRunError, Interruption, interruptible
from tests.verify_aws.leftovers import leftovers
from tests.verify_aws.verdicts import Leftover, Report, Verdict


class Nothing:
    """A deployment and a cluster that are not there."""

    name = "verify"

    @property
    def deployment(self) -> "Nothing":
        return self

    def client(self, service: str) -> None:
        """Return no client."""

    def save_logs(self) -> None:
        """Save nothing."""


class Destroying:
    """`cdk destroy` that fails a few times."""

    destroy_command = "cdk destroy"

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def destroy(self, timeout_s: float) -> None:
        self.calls += 1
        if self.calls <= self.failures:
            raise CdkError("`cdk destroy` ended with status 1")


class FakeRun:
    """What `verify` uses of a run."""

    def __init__(self, cdk: Destroying, say: Callable[[str], None], seconds_left: float) -> None:
        self.cdk, self.say, self.seconds_left = cdk, say, seconds_left
        self.cluster = Nothing()

    def save_after_failure(self, checkpoint: str) -> None:
        self.say(f"saved {checkpoint}")


def verified(
    monkeypatch: pytest.MonkeyPatch,
    checks: Mapping[int, Callable[[], None]],
    *,
    failures: int = 0,
    left: tuple[Leftover, ...] = (),
    seconds: float = 60.0,
    teardown: Mapping[str, Callable[[Run], None]] | None = None,
) -> tuple[Report, list[str], Destroying]:
    """Run the seven checks, each of which passes unless given here."""
    said: list[str] = []

    def check(number: int) -> Callable[[Run], str]:
        return lambda _: checks.get(number, lambda: None)() or "seen"

    monkeypatch.setattr(running, "CHECKS", [(title, check(number)) for number, (title, _) in enumerate(CHECKS, 1)])
    monkeypatch.setattr(running, "leftovers", lambda *_: left)
    monkeypatch.setattr(running, "log_groups_of_nodes", lambda _: [])
    monkeypatch.setattr(running, "_settle", lambda _: None)
    monkeypatch.setattr(running, "AGAIN_AFTER_S", 0.01)
    for step, replacement in (teardown or {}).items():
        monkeypatch.setattr(running, step, replacement)
    destroying = Destroying(failures)
    run = cast("Run", FakeRun(destroying, said.append, seconds))
    with interruptible(said.append) as interruption:
        report = running.verify(run, interruption, lambda _: None)
    return report, said, destroying


def fail() -> None:
    raise CheckFailedError("partition second: not there")


def verdicts(report: Report) -> list[str]:
    return [check.verdict.value for check in report.checks]


def test_a_failed_check_lets_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    report, said, _ = verified(monkeypatch, {5: fail})
    assert [text for text in said if text.startswith("saved ")] == ["saved failed-5"]
    assert (verdicts(report)[4], verdicts(report)[5], report.is_good) == ("failed", "passed", False)
    assert report.checks[4].seen == "partition second: not there"


@pytest.mark.parametrize("number", [1, 2])
def test_without_a_cluster_the_others_are_not_reached(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    report, _, destroying = verified(monkeypatch, {number: fail})
    assert verdicts(report) == ["passed"] * (number - 1) + ["failed"] + ["not reached"] * (6 - number) + ["passed"]
    assert destroying.calls == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_tears_down_and_a_second_one_does_not_stop_that(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), number)
        time.sleep(5)

    original = Destroying.destroy

    def destroy(self: Destroying, timeout_s: float) -> None:
        os.kill(os.getpid(), number)
        original(self, timeout_s)

    monkeypatch.setattr(Destroying, "destroy", destroy)
    report, said, destroying = verified(monkeypatch, {3: interrupt})
    assert verdicts(report) == ["passed"] * 2 + ["not reached"] * 4 + ["passed"]
    assert (report.interrupted, report.is_good, destroying.calls) == (number.name, False, 1)
    assert f"{number.name}: {CONTINUES}" in said


def test_a_signal_that_first_comes_in_the_teardown_does_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Destroying, "destroy", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    report, said, _ = verified(monkeypatch, {})
    assert verdicts(report) == ["passed"] * 7
    assert f"SIGINT: {CONTINUES}" in said


def test_a_signal_after_the_last_check_tears_down(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Interruption.disarm

    def disarm(self: Interruption) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        original(self)

    monkeypatch.setattr(Interruption, "disarm", disarm)
    report, _, destroying = verified(monkeypatch, {})
    assert (verdicts(report), report.interrupted, destroying.calls) == (["passed"] * 7, "SIGTERM", 1)


def test_two_signals_at_once_raise_only_one_error() -> None:
    said: list[str] = []
    interruption = Interruption(said.append)
    with pytest.raises(InterruptedRunError):
        interruption.receive(signal.SIGINT, None)
    interruption.receive(signal.SIGINT, None)
    assert said == [f"SIGINT: {CONTINUES}"]


def bug() -> None:
    raise KeyError("Nodes")


def test_a_bug_in_a_check_is_a_failed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    report, said, destroying = verified(monkeypatch, {4: bug})
    assert (verdicts(report), report.checks[3].seen) == (["passed"] * 3 + ["failed"] + ["passed"] * 3, "KeyError('Nodes')")
    assert destroying.calls == 1
    assert any("in bug" in text for text in said), "the traceback"


@pytest.mark.parametrize("step", ["_settle", "log_groups_of_nodes"])
def test_a_bug_in_the_teardown_is_a_failed_check(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report, _, _ = verified(monkeypatch, {}, teardown={step: lambda _: bug()})
    assert (verdicts(report)[:6], report.checks[6].seen) == (["passed"] * 6, "KeyError('Nodes')")


def test_after_the_time_no_check_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    report, _, destroying = verified(monkeypatch, {}, seconds=0.0)
    assert (verdicts(report), destroying.calls) == (["not reached"] * 6 + ["passed"], 1)


def test_logs_that_cannot_be_saved_do_not_prevent_the_teardown(monkeypatch: pytest.MonkeyPatch) -> None:
    def save_logs(_: Nothing) -> None:
        raise ValueError("not JSON")

    monkeypatch.setattr(Nothing, "save_logs", save_logs)
    report, said, _ = verified(monkeypatch, {})
    assert report.is_good
    assert "the logs are not saved: ValueError('not JSON')" in said


EXPIRED = ClientError({"Error": {"Code": "ExpiredToken", "Message": "the token has expired"}}, "Describe")


@pytest.mark.parametrize("error", [EXPIRED, KeyError("Buckets")])
def test_what_cannot_be_listed_counts_as_left(error: Exception) -> None:
    def client(_: str) -> Any:
        raise error

    deployment = type("Fake", (), {"client": staticmethod(client), "config": Nothing, "stacks": lambda _: client("stacks")})()
    left = leftovers(deployment, "cdk destroy 'verify/*'")
    assert [each.kind for each in left] == [
        f"unknown {kind}" for kind in ("clusters", "stacks", "network", "file systems", "buckets", "log groups")
    ]
    assert {each.command for each in left} == {"cdk destroy 'verify/*'"}


def test_a_destroy_that_fails_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    report, _, destroying = verified(monkeypatch, {}, failures=2)
    assert (report.is_good, destroying.calls) == (True, 3)
    report, _, destroying = verified(monkeypatch, {}, failures=3)
    assert (verdicts(report)[6], destroying.calls) == ("failed", 3)


def test_what_is_left_fails_the_last_check(monkeypatch: pytest.MonkeyPatch) -> None:
    report, _, _ = verified(monkeypatch, {}, left=(Leftover("VPC", "vpc-1", "aws ec2 delete-vpc --vpc-id vpc-1"),))
    assert (report.checks[6].verdict, report.checks[6].seen, report.is_good) == (Verdict.FAILED, "left: VPC vpc-1", False)


def program(tmp_path: Path, *arguments: str, plugin: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    if plugin:
        (tmp_path / "session-manager-plugin").write_text("#!/bin/sh\necho 1.2.707.0\n")
        (tmp_path / "session-manager-plugin").chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return subprocess.run(
        [sys.executable, "-m", "tests.verify_aws", *arguments],
        cwd=PROJECT,
        env={**kept, "PATH": f"{tmp_path}:/usr/bin:/bin", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_refuses_before_it_deploys(tmp_path: Path) -> None:
    for expected, done in {
        "session-manager-plugin: not in PATH": program(tmp_path, plugin=False),
        "pass --into FOLDER": program(tmp_path, AWS_ENDPOINT_URL="http://127.0.0.1:1"),
        "not empty; remove it": program(tmp_path, "--into", str(PROJECT / "docs")),
    }.items():
        assert (done.returncode, expected in done.stderr) == (2, True), done.stderr


def test_the_handlers_of_before_are_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible(lambda _: None):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
