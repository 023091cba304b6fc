"""The agent's decisions: what it applies, refuses, reports and repeats."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.follow import __main__, agent, bundle, lock
from hyperpod_node.follow.agent import Agent
from hyperpod_node.follow.aws import ATTEMPTS
from hyperpod_node.follow.http import HttpError, UnreachableError
from hyperpod_node.follow.memory import Memory
from hyperpod_node.follow.state import state as read_state
from hyperpod_node.node_settings import Follow
from hyperpod_node.resource_config import Instance
from tests.unit.hyperpod_node.a_node import INSTANCES, a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem
from tests.unit.hyperpod_node.follow.fake_aws import FakeAws, error
from tests.unit.hyperpod_node.follow.test_bundle import FILES, objects, sha256_of
from tests.unit.hyperpod_node.follow.test_pointer import CONTENT

SHA256 = sha256_of(FILES)
FOLLOW = Follow("/hyperpod-cdk/ml/bundle", "/hyperpod-cdk/ml/nodes", "my-*")
STREAM = "compute-nodes/i-6"
SERVICES = (
    "Id=slurmd.service\nLoadState=loaded\nActiveState=active\n\nId=munge.service\nLoadState=not-found\nActiveState=inactive\n"
)


def pointer(generation: int = 1, sha256: str = SHA256, percent: int = 100, **more: Any) -> str:
    reach = {"roles": ["controller"], "compute_percent": percent}
    return json.dumps(CONTENT | {"generation": generation, "prefix": "lifecycle/1", "sha256": sha256, "reach": reach} | more)


@dataclass
class Node(FakeSystem):
    """A compute node with its agent."""

    aws: FakeAws = field(default_factory=lambda: FakeAws(objects=objects(FILES)))
    now: float = 1e6
    instances: tuple[Instance, ...] = INSTANCES
    role: str = "compute"

    def __post_init__(self) -> None:
        self.write("/proc/mounts", "/dev/root / ext4 rw 0 0\n")
        self.answers("stat", "71 100\n")
        self.answers("systemctl", SERVICES)

    def tick(self, after_s: float = 60) -> list[dict[str, Any]]:
        """One run; its records."""
        self.now += after_s
        context = a_context(instances=self.instances, role=self.role)
        context = replace(context, settings=replace(context.settings, follow=FOLLOW))
        before = len(self.aws.records)
        Agent(context, self.system, self.aws.aws, Memory.load(self.system), lambda: self.now).run()
        return self.aws.records[before:]

    def outcomes(self, after_s: float = 60) -> list[tuple[str, int, str | None, str]]:
        records = [each for each in self.tick(after_s) if each["record"] == "bundle"]
        return [(each["result"], each["generation"], each["step"], each["message"]) for each in records]

    @property
    def applied(self) -> int:
        return len([words for words in self.run.named("python3") if words[-1] == "--live"])

    def live_steps_fail(self, output: str) -> None:
        self.python_fails("--live", f"`python3 lifecycle_script.py --live` ended with status 1: {output}")

    def python_fails(self, option: str, message: str) -> None:
        def fail(arguments: tuple[str, ...], _: str | None) -> str:
            if arguments[-1] == option:
                raise NodeError(message)
            return ""

        self.answers("python3", fail)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_new_bundle_is_applied_once_and_reported(node: Node) -> None:
    node.aws.parameter = pointer(7)
    [record, _] = node.tick()
    assert record == {
        "version": 1,
        "record": "bundle",
        "agent": "1",
        "cluster": "ml",
        "instance": "i-6",
        "node": "compute-nodes-1",
        "group": "compute-nodes",
        "role": "compute",
        "host": "ip-10-1-0-6",
        "address": "10.1.0.6",
        "sha256": SHA256,
        "generation": 7,
        "result": "applied",
        "step": None,
        "message": "",
    }
    assert list(node.aws.streams) == [STREAM]
    folder = node.path(bundle.FOLDER) / SHA256
    assert node.run.named("python3") == [
        ("-B", "-m", "hyperpod_node.follow", "--check"),
        ("-B", "-u", str(folder / "lifecycle_script.py"), "--live"),
    ]
    assert node.path(bundle.CURRENT).readlink() == Path(SHA256)
    assert node.outcomes() == []
    assert node.applied == 1


def test_a_node_that_the_pointer_does_not_reach_waits(node: Node) -> None:
    node.aws.parameter = pointer(1, percent=0)
    assert node.outcomes() == []
    node.aws.parameter = pointer(2)
    assert node.outcomes() == [("applied", 2, None, "")]


def test_a_node_with_the_bundle_reports_a_new_generation_without_applying_it_again(node: Node) -> None:
    node.aws.parameter = pointer(1)
    node.tick()
    node.aws.parameter = pointer(2, percent=0)
    assert [(each["record"], each["sha256"], each["generation"]) for each in node.tick()] == [("state", SHA256, 2)]
    assert node.applied == 1


def test_after_a_failure_the_bundle_before_is_applied_again(node: Node) -> None:
    node.aws.parameter = pointer(1)
    node.tick()
    new = FILES | {"new.py": b""}
    node.aws.objects = objects(new)
    node.aws.parameter = pointer(2, sha256_of(new))
    node.live_steps_fail("lifecycle script failed: step 'groups and users': no")
    assert [each["sha256"] for each in node.tick()] == [sha256_of(new), ""]
    node.answers("python3", "")
    node.aws.objects = objects(FILES)
    node.aws.parameter = pointer(3)
    assert [(each["record"], each["sha256"], each["generation"]) for each in node.tick()] == [
        ("bundle", SHA256, 3),
        ("state", SHA256, 3),
    ]


def test_a_failing_step_is_reported_with_its_title_and_tried_again_later(node: Node) -> None:
    node.aws.parameter = pointer(3)
    node.live_steps_fail("groups: 0.1 s | lifecycle script failed: step 'Slurm's accounting': `sacctmgr` ended: step 'x': y")
    failure = ("failed", 3, "Slurm's accounting", "`sacctmgr` ended: step 'x': y")
    assert node.outcomes() == [failure]
    assert node.outcomes(agent.FIRST_RETRY_S - 61) == []
    assert node.outcomes(61) == [failure]
    assert node.outcomes(agent.FIRST_RETRY_S) == []  # the pause doubles
    assert not node.path(bundle.CURRENT).exists()
    node.answers("python3", "")
    assert node.outcomes(agent.FIRST_RETRY_S) == [("applied", 3, None, "")]


def test_the_next_deployment_is_tried_at_once(node: Node) -> None:
    node.aws.parameter = pointer(3)
    node.live_steps_fail("Traceback | ValueError: no")
    assert node.outcomes() == [
        ("failed", 3, None, "`python3 lifecycle_script.py --live` ended with status 1: Traceback | ValueError: no")
    ]
    node.answers("python3", "")
    node.aws.parameter = pointer(4)
    assert node.outcomes() == [("applied", 4, None, "")]


def test_a_new_node_refuses_a_first_pointer_to_another_bucket(node: Node) -> None:
    node.aws.parameter = pointer(5, bucket="another")
    assert node.outcomes() == [("refused", 5, None, "the bundle parameter has bucket another; this node uses my-*")]


@pytest.mark.parametrize(
    ("text", "generation", "message"),
    [
        ("nonsense", 0, "the bundle parameter is not JSON"),
        (pointer(9, version=2), 0, "the bundle parameter has version 2; this agent supports version 1"),
        (pointer(9, prefix="elsewhere"), 0, "the bundle parameter's prefix is 'elsewhere'"),
        (pointer(4, "b" * 64), 4, "the bundle parameter has rollout number 4; this node has applied 5"),
        (pointer(5, "b" * 64), 5, "the bundle parameter has rollout number 5, which this node has applied, with another SHA-256"),
        (pointer(6, bucket="my-other"), 6, "the bundle parameter has bucket my-other; this node uses my-bucket"),
        (pointer(6, bucket="another"), 6, "the bundle parameter has bucket another; this node uses my-*"),
        (pointer(6, "b" * 64), 6, f"s3://my-bucket/lifecycle/1 has the SHA-256 {SHA256}, the bundle parameter {'b' * 64}"),
    ],
)
def test_a_pointer_is_refused_once_with_the_reason(node: Node, text: str, generation: int, message: str) -> None:
    node.aws.parameter = pointer(5)
    node.tick()
    node.aws.parameter = text
    [(result, found, step, reason)] = node.outcomes()
    assert (result, found, step) == ("refused", generation, None)
    assert reason.startswith(message)
    assert node.outcomes() == []
    assert node.applied == 1
    assert len(node.outcomes(agent.FIRST_RETRY_S)) == 1


def test_without_a_pointer_only_the_state_is_reported(node: Node) -> None:
    [record] = node.tick()
    assert record["record"] == "state"
    assert record | {"disks": [{"path": "/", "free_percent": 71.0}], "services": {"slurmd": "active"}} == record
    assert (record["sha256"], record["generation"]) == ("", 0)


def test_the_state_is_reported_every_five_minutes_and_at_a_change(node: Node) -> None:
    assert len(node.tick()) == 1
    assert node.tick() == []
    node.answers("stat", "50 100\n")
    assert node.tick() == []
    node.answers("systemctl", SERVICES.replace("active", "failed", 1))
    assert [each["services"] for each in node.tick()] == [{"slurmd": "failed"}]
    assert [len(node.tick()) for _ in range(10)] == [0, 0, 0, 0, 1] * 2


@pytest.mark.parametrize(
    ("failures", "warning"),
    [
        ([error(400, "AccessDeniedException")], "AccessDeniedException"),
        ([UnreachableError("no route")] * ATTEMPTS, "no route"),
    ],
)
def test_a_parameter_that_cannot_be_read_is_a_warning_beside_the_state(
    node: Node, failures: list[Exception], warning: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node.aws.failures = failures
    assert [each["record"] for each in node.tick()] == ["state"]
    assert f"warning: ssm:GetParameter: {warning}" in capsys.readouterr().out


def test_reports_that_could_not_be_sent_are_sent_later(node: Node) -> None:
    node.aws.parameter = pointer(1)
    send = node.aws.send

    def logs_fail(request: Any) -> bytes:
        if request.headers.get("X-Amz-Target", "").startswith("Logs"):
            raise error(400, "AccessDeniedException")
        return send(request)

    node.aws.send = logs_fail  # type: ignore[method-assign]  # for one run
    with pytest.raises(NodeError, match="logs:PutLogEvents: AccessDeniedException"):
        node.tick()
    node.aws.send = send  # type: ignore[method-assign]  # as above
    assert [each["record"] for each in node.tick()] == ["bundle", "state"]
    assert node.tick() == []


def test_large_clusters_poll_less_often(node: Node) -> None:
    node.instances = (*(Instance(f"w-{n}", f"10.1.9.{n}", f"i-{n}", "w") for n in range(3000)), *INSTANCES)
    for _ in range(10):
        node.tick()
    polls = [each for each in node.aws.asked if each.headers.get("X-Amz-Target") == "AmazonSSM.GetParameter"]
    assert len(polls) == 4  # every third minute


def test_a_memory_that_cannot_be_read_is_a_new_one(node: Node) -> None:
    node.write("/var/lib/hyperpod-cdk/follow.json", "{")
    node.aws.parameter = pointer(2)
    assert node.outcomes() == [("applied", 2, None, "")]


def s3_fails(node: Node, failure: Exception | None) -> None:
    send = FakeAws.send

    def failing(request: Any) -> bytes:
        if failure and request.method == "GET":
            raise failure
        return send(node.aws, request)

    node.aws.send = failing  # type: ignore[method-assign]  # until the next call


@pytest.mark.parametrize(
    "failure",
    [UnreachableError("no route"), error(500, "InternalError"), HttpError(503, b"<Error><Code>SlowDown</Code></Error>")],
)
def test_a_short_outage_is_no_result_and_a_long_one_is(node: Node, failure: Exception) -> None:
    node.aws.parameter = pointer(3)
    s3_fails(node, failure)
    assert [node.outcomes() for _ in range(5)] == [[]] * 5
    s3_fails(node, None)
    assert node.outcomes() == [("applied", 3, None, "")]
    node.aws.parameter = pointer(4, "b" * 64)
    s3_fails(node, failure)
    assert [len(node.outcomes()) for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    node.aws.parameter = pointer(5)  # a rollback needs no S3
    node.tick()
    assert Memory.load(node.system).generation == 5


def test_the_result_is_sent_before_the_state_is_read(node: Node) -> None:
    node.aws.parameter = pointer(3)
    node.path("/proc/mounts").unlink()
    with pytest.raises(FileNotFoundError):
        node.tick()
    assert [each["record"] for each in node.aws.records] == ["bundle"]


def test_a_bundle_whose_agent_cannot_run_fails_and_changes_nothing(node: Node) -> None:
    error = "`python3 --check` ended with status 1: SyntaxError: invalid syntax"
    node.python_fails("--check", error)
    node.aws.parameter = pointer(2)
    assert node.outcomes() == [("failed", 2, None, f"the new agent cannot run: {error}")]
    assert node.applied == 0
    assert not node.path(bundle.CURRENT).exists()


def test_the_agent_checks_that_it_can_run(node: Node) -> None:
    """A folder with the agent's code, its settings and HyperPod's file is enough; a broken module is not."""
    package = node.path("/new") / "hyperpod_node"
    shutil.copytree(Path(agent.__file__).parents[1], package)
    check = [sys.executable, "-B", "-m", "hyperpod_node.follow", "--check"]
    environment = {"PYTHONPATH": str(package.parent), "SAGEMAKER_RESOURCE_CONFIG_PATH": "/missing"}

    def error() -> str:
        return subprocess.run(check, env=environment, capture_output=True, text=True, check=False).stderr

    assert "/missing" in error()
    (package / "follow/state.py").write_text("import no_such_module\n")
    assert "No module named 'no_such_module'" in error()


def test_a_controller_reports_its_state_before_it_applies_a_bundle(node: Node) -> None:
    node.role = "controller"
    node.aws.parameter = pointer(1)
    assert [each["record"] for each in node.tick()] == ["state", "bundle", "state"]


def test_a_controller_reports_its_state_while_it_applies_a_bundle(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "BUSY_STATE_EVERY_S", 0.01)
    node.role = "controller"
    node.aws.parameter = pointer(1)
    enough = threading.Event()

    def apply(arguments: tuple[str, ...], _: str | None) -> str:
        while arguments[-1] == "--live" and len(node.aws.records) < 3 and not enough.wait(0.01):
            pass
        return ""

    node.answers("python3", apply)
    threading.Timer(10, enough.set).start()
    records = [each["record"] for each in node.tick()]
    enough.set()
    assert records[:3] == ["state"] * 3
    assert [each["record"] for each in node.aws.records if each["record"] == "bundle"] == ["bundle"]


def test_an_unexpected_error_does_not_end_the_reports_of_a_controller(
    node: Node, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agent, "BUSY_STATE_EVERY_S", 0.01)
    node.role, node.aws.parameter = "controller", pointer()
    failures = iter([ValueError("no state")])

    def state(*arguments: Any) -> dict[str, Any]:
        if failure := next(failures, None):
            raise failure
        return read_state(*arguments)

    monkeypatch.setattr(agent, "state", state)
    enough, reported = threading.Event(), []

    def apply(arguments: tuple[str, ...], _: str | None) -> str:
        while arguments[-1] == "--live" and not node.aws.records and not enough.wait(0.01):
            pass
        if arguments[-1] == "--live":
            reported.extend(node.aws.records)
        return ""

    node.answers("python3", apply)
    threading.Timer(10, enough.set).start()
    node.tick()
    enough.set()
    assert "warning: unexpected ValueError: no state; the report is sent later" in capsys.readouterr().out
    assert [each["record"] for each in reported][:1] == ["state"]


def test_a_generation_far_ahead_of_the_pointers_last_change_is_refused(node: Node) -> None:
    node.aws.modified_s = 1.8e9
    node.aws.parameter = pointer(1_800_000_000 + 2 * 86_400)
    [(result, _, _, message)] = node.outcomes()
    assert (result, message) == (
        "refused",
        "the bundle parameter has rollout number 1800172800, more than a day after its last change",
    )
    node.aws.parameter = pointer(1_800_000_000 + 86_400 + 4)
    assert [each[0] for each in node.outcomes()] == ["applied"]


def test_a_check_reads_the_state_and_changes_nothing(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "SYSTEM", node.system)
    monkeypatch.setattr(Context, "load", lambda *_: a_context())
    monkeypatch.setattr(sys, "argv", ["follow", "--check"])
    with lock.held(node.system):  # by the agent in use
        before = {path for path in node.root.rglob("*") if path.is_file()}
        assert __main__.main() == 0
    assert node.run.named("stat")
    assert {path for path in node.root.rglob("*") if path.is_file()} == before
