"""Real results of each command, one function per command, for the tests of the schemas in schema/commands."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli import adopt, clusters, init, logs, nodes, outputs, retained, rollback, validate
from cli.confirm import without_asking
from cli.cost.command import cost
from cli.cost.estimate import as_data
from cli.deployment import Deployment
from cli.drift import command as drift
from cli.events import command as events
from cli.import_cluster.command import import_cluster
from cli.kubeconfig import kubeconfig
from cli.preflight import command as preflight_command
from cli.preflight.check import Check, ok, warning
from cli.reach import ssh
from cli.reach.rerun_scripts import HAS_AGENT
from cli.reach.run import run
from cli.remote.sessions import SessionError
from cli.remote.shell import Output
from cli.render import envelope
from cli.result import Block, Json, Result
from cli.snapshot import command as snapshot_command
from cli.status import command as status
from tests.cluster_files import CLUSTERS
from tests.unit.cli.cost.test_estimate import estimate
from tests.unit.cli.fake_account import FakeAccount
from tests.unit.cli.fake_eks import EksDeployment, FakeApiServer, FakeEks, FakeSession, eks_config
from tests.unit.cli.fake_nodes import FakeNodes, FakeShell, resource_config
from tests.unit.cli.fake_operations import DRAINED, NEW, NOW, FakeOperations, node, slurm
from tests.unit.cli.fake_stack import FakeStack
from tests.unit.cli.governance import governed, quota, scheduler
from tests.unit.cli.import_cluster.originals import DATA
from tests.unit.cli.preflight.fake_aws import FILE as ASKED_FILE
from tests.unit.cli.preflight.fake_aws import FakeAws
from tests.unit.cli.reach.test_copy import copied
from tests.unit.cli.reach.test_rerun_scripts import applied
from tests.unit.cli.test_adopt import FakeAccount as AdoptedAccount
from tests.unit.cli.test_adopt import deployment as adopting
from tests.unit.cli.test_drift import DriftAccount
from tests.unit.cli.test_drift_eks import EksDriftAccount
from tests.unit.cli.test_list import FakeStacks
from tests.unit.cli.test_retained import FILE, parsed
from tests.unit.cli.test_unfinished import creating, deployment, stuck
from tests.unit.kubernetes_resource.api_server import ApiServer

Samples = Callable[[Path, pytest.MonkeyPatch], Iterator[Result]]
SAMPLES: dict[str, Samples] = {}
SHOWN: list[Block] = []
"""What the commands of the samples showed while they ran."""
UNSCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
NAME = {"OutputKey": "ClusterName", "OutputValue": "draft-1", "Description": "name"}


def sample(command: str) -> Callable[[Samples], Samples]:
    """Register the results of a command."""

    def register(function: Samples) -> Samples:
        SAMPLES[command] = function
        return function

    return register


def data_of(command: str, result: Result) -> Json | None:
    """The `data` of what the command prints with `--output json`."""
    data: Json | None = json.loads(envelope(command, result))["data"]
    return data


def on(session: Any) -> Deployment:
    """The deployment of a file in the account of a fake."""
    return Deployment(parsed(FILE), session)


@sample("validate")
def _validate(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    (folder / "bad.yaml").write_text("region: us-west-2\n")
    yield validate.validate(clusters=folder, files=())


@sample("preflight")
def _preflight(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Result]:
    (folder / "draft.yaml").write_text(ASKED_FILE)
    patch.setattr(preflight_command, "CHECKS", [Check("quotas", lambda _: iter([ok("enough"), warning("too few", "ask")]))])
    yield preflight_command.preflight(clusters=folder, cluster="draft", session=FakeAws({}), show=SHOWN.append)


@sample("cost")
def _cost(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield cost(clusters=CLUSTERS, cluster="reference")
    yield Result(as_data(estimate()))


@sample("list")
def _list(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    (folder / "draft.yaml").write_text(FILE)
    yield clusters.list_clusters(clusters=folder, session=FakeStacks(old_Cluster="CREATE_COMPLETE"))


@sample("snapshot")
def _snapshot(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Result]:
    patch.setattr(snapshot_command, "synthesize", lambda *_: None)
    patch.setattr(snapshot_command, "templates", lambda _: [("dev", "dev-Network", '{"Resources": {}}')])
    patch.setattr(snapshot_command, "node_files", lambda _: [])
    yield snapshot_command.snapshot(clusters=folder, check=True)


@sample("init")
def _init(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    yield init.init(name="mine", clusters=folder, force=False, zone="usw2-az4", instance_type="ml.p5.48xlarge")


@sample("import")
def _import(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    files = [DATA / "login-node" / name for name in ("create_cluster.json", "provisioning_parameters.json")]
    names = ("profile", "region", "zone", "keep", "vpc", "scripts")
    chosen = {**dict.fromkeys(names), "drop_unknown_groups": False}
    yield import_cluster(files=files, cluster=None, write=None, clusters=folder, force=False, **chosen)


@sample("status")
def _status(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    account = creating()
    account.step("Create Cluster", 750, status="Creating", nodes="head 0 of 1")
    yield status.status(deployment(account))
    yield status.status(deployment(stuck()))
    yield status.status(busy_account().deployment(), now=NOW)
    yield status.status(eks_deployment(), now=NOW)


def eks_deployment(error: Exception | None = None) -> EksDeployment:
    """A cluster with EKS: one node is checked, and a pod waits."""
    server, account = FakeApiServer(), FakeOperations()
    server.node("i-00000000000000002", "UnschedulablePendingReplacement", ready="False")
    server.pod("research/train-0", "", phase="Pending", conditions=[UNSCHEDULED])
    server.error = error
    account.nodes = [node("workers", 2), node("workers", 3)]
    account.quotas = [quota("research", "CreateFailed", "too few nodes of ml.p5.48xlarge"), quota("vision")]
    account.schedulers = [scheduler()]
    eks = FakeEks()
    eks.addons["coredns"] = eks.addon("coredns", "DEGRADED", "InsufficientNumberOfReplicas", "no space left on the nodes.")
    return EksDeployment(account, server, eks, governed())


def busy_account() -> FakeOperations:
    """An account in which each part of a report has an entry."""
    busy = FakeOperations()
    busy.pointer = json.dumps({"version": 1, "sha256": NEW})
    busy.state("head", 1, disks=[{"path": "/fsx", "free_percent": 4.5}], **slurm(DRAINED))
    busy.alarms = [{"AlarmName": "draft-Cluster-1", "StateValue": "ALARM", "StateUpdatedTimestamp": NOW}]
    busy.associations = [{"AssociationId": "dra-1", "Lifecycle": "AVAILABLE"}]
    busy.free_gib = 300
    return busy


@sample("events")
def _events(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield events.events(busy_account().deployment(), now=lambda: NOW, show=SHOWN.append)


@sample("kubeconfig")
def _kubeconfig(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    session: Any = FakeSession(eks := FakeEks())
    eks.caller = "arn:aws:sts::123456789012:assumed-role/Developer/bob"
    deployment = Deployment(eks_config(), session)
    yield kubeconfig(deployment, write=folder / "config")
    yield kubeconfig(deployment, only_print=True)


@sample("drift")
def _drift(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    account = DriftAccount()
    yield drift.drift(adopting(account), now=NOW)
    account.cluster.tags["cost"] = "7"
    yield drift.drift(adopting(account), now=NOW)
    on_eks = EksDriftAccount()
    on_eks.governed.quotas = []
    yield drift.drift(on_eks.deployment(ApiServer()), now=NOW)


@sample("nodes")
def _nodes(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield nodes.nodes(FakeNodes().deployment(), FakeShell(Output(0, resource_config())))
    yield nodes.nodes(FakeNodes().deployment(), FakeShell(SessionError("not connected")))
    yield nodes.nodes(eks_deployment(), FakeShell())
    yield nodes.nodes(eks_deployment(TimeoutError("timed out")), FakeShell())


@sample("ssh")
def _ssh(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Result]:
    patch.setattr(ssh, "require_aws_cli", lambda: None)
    shell = FakeShell(Output(0, resource_config()), Output(0, "10.1.0.9 ssh-ed25519 AAAA"))
    yield ssh.ssh_config(FakeNodes().deployment(), home=folder, shell=shell, user="alice", identity=None, only_print=False)


@sample("run")
def _run(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    shell = FakeShell(Output(0, ""), SessionError("not connected"), Output(3, "text"))
    yield run(FakeNodes().deployment(), node="workers", words=["true"], timeout_s=1, shell=shell)


@sample("rerun-scripts")
def _rerun_scripts(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield applied(Output(0, HAS_AGENT), Output(1, "lifecycle script failed: no space"), show=SHOWN.append)


@sample("copy")
def _copy(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Result]:
    yield copied(folder, patch)


class FakeLogs(FakeStack):
    """The log of a node."""

    def paginate(self, **_: Any) -> Iterator[Json]:
        if self.operation == "describe_log_groups":
            yield {"logGroups": [{"logGroupName": "/aws/sagemaker/Clusters/draft-0123456789ab/aaaa", "creationTime": 1}]}
        elif self.operation == "filter_log_events":
            yield {"events": []}
        else:
            yield {"logStreams": [{"logStreamName": "LifecycleConfig/head/i-0aaaaaaaa", "creationTime": 1}]}

    def get_log_events(self, **_: Any) -> Json:
        return {"events": [{"message": "one\ntwo"}], "nextForwardToken": "end"}


@sample("logs")
def _logs(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield logs.logs(on(FakeLogs("CREATE_COMPLETE")))
    yield logs.logs(on(FakeLogs("CREATE_COMPLETE")), node="head#1", show=SHOWN.append)


@sample("outputs")
def _outputs(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    account = FakeStack("CREATE_COMPLETE")
    account.outputs = [NAME]
    yield outputs.outputs(on(account))


@sample("retained")
def _retained(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    account = FakeAccount()
    account.add_file_system(1)
    account.add_file_system(2)
    account.add_bucket(1)
    yield retained.retained(on(account))


@sample("adopt")
def _adopt(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield adopt.adopt(adopting(AdoptedAccount(), ("instance_count: 4", "instance_count: 6")))
    yield adopt.adopt(adopting(AdoptedAccount()), release=True)


@sample("continue-rollback")
def _continue_rollback(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield rollback.continue_rollback(deployment(stuck()), skip=True, confirm=without_asking)
