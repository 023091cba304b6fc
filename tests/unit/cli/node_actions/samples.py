"""Real results of the commands on nodes, for the tests of the schemas."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.node_actions.batches import Options
from cli.node_actions.delete import delete
from cli.node_actions.drain_commands import drain_nodes, resume_nodes
from cli.node_actions.health_check import health_check
from cli.node_actions.recover import recover
from cli.result import Result
from cli.scale import scale
from tests.unit.cli.fake_nodes import FILE
from tests.unit.cli.node_actions.fake_cluster import FIRST, HOSTS, SECOND, FakeCluster, FakeTime
from tests.unit.cli.sample_results import SHOWN, sample


def busy() -> FakeCluster:
    """A cluster with a job."""
    cluster = FakeCluster()
    cluster.shell.hosts[HOSTS[FIRST]].jobs = ["7"]
    return cluster


@sample("scale")
def _scale(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    (folder / "draft.yaml").write_text(FILE)
    yield scale(clusters=folder, cluster="draft", group="workers", count=9)


def _recovered(action: str) -> Iterator[Result]:
    for force, names in ((True, ["workers", "controller"]), (False, ["workers"])):
        cluster = busy()
        options = Options(force=force, patience=FakeTime().patience())
        yield recover(cluster.deployment(), action, nodes=names, options=options, show=SHOWN.append, shell=cluster.shell)


@sample("replace")
def _replace(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield from _recovered("replace")


@sample("reboot")
def _reboot(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    yield from _recovered("reboot")


@sample("delete")
def _delete(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Result]:
    file = folder / "draft.yaml"
    file.write_text(FILE)
    cluster = FakeCluster()
    cluster.refuses = {SECOND: "NodeIdInUse"}
    options = Options(patience=FakeTime().patience())
    yield delete(
        cluster.deployment(), nodes=["workers"], file=file, options=options, scale=True, show=SHOWN.append, shell=cluster.shell
    )


@sample("drain")
def _drain(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    cluster = busy()
    yield drain_nodes(cluster.deployment(), nodes=["workers"], shell=cluster.shell)


@sample("resume")
def _resume(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    cluster = FakeCluster()
    yield resume_nodes(cluster.deployment(), nodes=["workers"], show=SHOWN.append, shell=cluster.shell)


@sample("health-check")
def _health_check(_: Path, __: pytest.MonkeyPatch) -> Iterator[Result]:
    for stuck in (False, True):
        cluster = FakeCluster()
        cluster.types = {"workers": "ml.g5.8xlarge"}
        cluster.stuck, cluster.under_check, cluster.faulty = stuck, [FIRST, SECOND], [SECOND]
        cluster.records = [json.dumps({"level": "error", "msg": "Encountered FaultyInstance."})]
        yield health_check(
            cluster.deployment(),
            nodes=["workers"],
            checks="InstanceStress",
            patience=FakeTime().patience(),
            show=SHOWN.append,
            shell=cluster.shell,
        )
