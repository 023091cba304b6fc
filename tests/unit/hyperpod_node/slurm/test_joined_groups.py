"""Groups that joined after the controller was set up: their workers report partition and hardware, the keeper uses both."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import API
from hyperpod_node.slurm import joined_groups, keeper
from hyperpod_node.slurm.conf_server import SLURMD
from hyperpod_node.slurm.keeper import Keeper
from tests.node_settings import Json, node_settings, slurm
from tests.unit.hyperpod_node.slurm.slurm_machine import PLAIN, SLURM_CONF, WORKER, SlurmMachine, slurm_context

CONF = "opt/slurm/etc/slurm.conf"
NEW_NODE = "NodeName=ip-10-1-0-9 NodeAddr=10.1.0.9 CPUs=192 RealMemory=2000000 State=UNKNOWN\n"
HARDWARE = {"sockets": 2, "cores_per_socket": 48, "gpus": 8, "gpu": "h100"}
PRINTED = "CPUs=96 Boards=1 SocketsPerBoard=2 CoresPerSocket=24 ThreadsPerCore=2 RealMemory=1001000\nUpTime=0-04:51:21\n"
MEASURED = {"sockets": 2, "cores_per_socket": 24, "threads_per_core": 2, "real_memory_mib": 950950}
HELP = "   --extra                    Arbitrary descriptive string.\n"
OWN = {
    "controller_group": "controller-machine",
    "worker_groups": [{"instance_group_name": "compute-nodes", "partition_name": "dev"}],
}


def group(name: str, address: str) -> Json:
    instance = {"InstanceName": f"{name}-1", "CustomerIpAddress": address, "InstanceId": f"i-{name}"}
    return {"Name": name, "InstanceType": f"ml.{name}", "Instances": [instance]}


def lists(machine: SlurmMachine, new: Json) -> None:
    """Write HyperPod's files with this group besides `compute-nodes`."""
    groups = [group("compute-nodes", "10.1.0.6"), new]
    machine.write("resource_config.json", json.dumps({"ClusterConfig": {"ClusterName": "demo"}, "InstanceGroups": groups}))
    lines = "".join(NEW_NODE.replace("10.1.0.9", one["CustomerIpAddress"]) for one in new["Instances"] or ())
    machine.write(CONF, SLURM_CONF.replace("PartitionName", f"{lines}PartitionName"))


@pytest.fixture
def machine(tmp_path: Path) -> SlurmMachine:
    """A controller that knows `compute-nodes` alone; HyperPod has added a node of `new` to its files."""
    machine = SlurmMachine(tmp_path)
    lists(machine, group("new", "10.1.0.9"))
    machine.write("node_settings.json", json.dumps(node_settings(slurm=slurm(prolog_and_epilog=False))))
    machine.write("slurm_groups.json", json.dumps(OWN))
    return machine


def of(machine: SlurmMachine) -> Keeper:
    return Keeper(machine.root / "resource_config.json", machine.root / "node_settings.json", machine.system)


def reports(machine: SlurmMachine, extra: str, of_compute: str = "{}", unknown: str = "none") -> None:
    """Let slurmctld know these reports, and not a node of this name: scontrol prints the others and fails."""
    shown = (
        f"NodeName=ip-10-1-0-6 Extra={of_compute}\nNodeName=ip-10-1-0-9 Arch=x86_64 State=IDLE Extra={extra} SlurmdStartTime=x"
    )

    def scontrol(arguments: tuple[str, ...], _: str | None) -> str:
        if unknown in arguments[-1]:
            raise NodeError(f"`scontrol` ended with status 1: Node {unknown} not found")
        return shown if "show" in arguments else ""

    machine.answers("scontrol", scontrol)


def looks(keeping: Keeper, machine: SlurmMachine, seconds: int = 20) -> str:
    """What slurm.conf has after some looks, a second apart."""
    for _ in range(seconds):
        keeping.check()
        machine.time.now_s += 1
    return (machine.root / CONF).read_text()


@pytest.mark.parametrize("unknown", ["none", "ip-10-1-0-6"])
def test_a_reported_group_gets_its_partition_and_its_hardware(machine: SlurmMachine, unknown: str) -> None:
    keeping = of(machine)
    assert "PartitionName=new" not in looks(keeping, machine)
    reports(machine, json.dumps({"partition": "train", **HARDWARE}, separators=(",", ":")), unknown=unknown)
    text = looks(keeping, machine)
    assert "PartitionName=train Nodes=ip-10-1-0-9 State=UP\n" in text
    assert f"{NEW_NODE.strip()} Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 Gres=gpu:h100:8\n" in text
    assert ("scontrol", "reconfigure") in machine.run.commands


def test_a_reported_group_joins_a_partition_of_the_file_with_its_limits(machine: SlurmMachine) -> None:
    partition = {"name": "train", "groups": ["compute-nodes"], "options": {"MaxTime": "60"}}
    settings = node_settings(slurm=slurm(prolog_and_epilog=False, partitions=[partition]))
    machine.write("node_settings.json", json.dumps(settings))
    reports(machine, '{"partition":"train"}')
    assert "PartitionName=train Nodes=ip-10-1-0-6,ip-10-1-0-9 MaxTime=60\n" in looks(of(machine), machine)


def test_a_report_outlives_the_keeper_and_slurmctld(machine: SlurmMachine) -> None:
    reports(machine, '{"partition":"train"}')
    looks(of(machine), machine)
    machine.write(CONF, SLURM_CONF.replace("PartitionName", f"{NEW_NODE}PartitionName"))
    machine.answers("scontrol", "")
    of(machine).complete()
    assert "PartitionName=train Nodes=ip-10-1-0-9 State=UP\n" in (machine.root / CONF).read_text()


def test_slurmctld_is_asked_only_while_a_report_is_missing(machine: SlurmMachine) -> None:
    keeping = of(machine)
    looks(keeping, machine, 30)
    assert len(machine.asked("scontrol", "--oneliner")) == 3  # after 5 s, then after 10 s, ...
    reports(machine, '{"partition":"dev","real_memory_mib":1900000}', of_compute='{"real_memory_mib":1900000}')
    looks(keeping, machine, 10)
    machine.run.commands.clear()
    looks(keeping, machine, 30)
    assert machine.asked("scontrol") == []


@pytest.mark.parametrize(
    "extra",
    [
        '{"partition":"a\\nSlurmUser=root"}',
        '{"partition":"a,Default=YES"}',
        '{"partition":"train","gpu":"h100,b"}',
        '{"partition":"Default"}',
        '{"partition":"\u212aall"}',
        '{"gpus":-1}',
        '{"sockets":true}',
        '{"real_memory_mib":99999999999}',
        "{not-json}",
        '["train"]',
    ],
)
def test_a_report_with_anything_else_in_it_changes_nothing(machine: SlurmMachine, extra: str) -> None:
    keeping = of(machine)
    before = looks(keeping, machine)
    reports(machine, extra)
    assert looks(keeping, machine) == before


def test_the_scripts_of_a_later_deployment_replace_what_was_reported(machine: SlurmMachine) -> None:
    reports(machine, '{"partition":"train"}')
    keeping = of(machine)
    looks(keeping, machine)
    own = {**OWN, "worker_groups": [*OWN["worker_groups"], {"instance_group_name": "new", "partition_name": "dev"}]}
    machine.write("slurm_groups.json", json.dumps(own))
    keeping.complete()
    assert "PartitionName=train" not in (machine.root / CONF).read_text()


@pytest.mark.parametrize("measured", [MEASURED, {}])
def test_a_worker_reports_its_partition_and_hardware_and_keeps_the_report_when_controllers_change(
    machine: SlurmMachine, measured: Json, capsys: pytest.CaptureFixture[str]
) -> None:
    def slurmd(arguments: tuple[str, ...], _: str | None) -> str:
        if arguments == ("-C",) and not measured:
            raise NodeError("`slurmd -C` ended with status 1: libhwloc.so.15")
        return PRINTED if arguments == ("-C",) else HELP

    machine.answers("slurmd", slurmd)
    context = slurm_context(here=WORKER)
    SLURMD.write(["10.1.0.4"], machine.system, joined_groups.option(context, machine.system))
    SLURMD.write(["10.1.0.5"], machine.system)
    _, _, options = (machine.root / "etc/default/slurmd").read_text().partition("=")
    server, extra = shlex.split(options)
    assert server == "--conf-server=10.1.0.5"
    assert SLURMD.addresses(machine.system) == ["10.1.0.5"]
    assert json.loads(extra.removeprefix("--extra=")) == HARDWARE | measured | {"partition": "dev", "efa": True}
    assert ("warning: " in capsys.readouterr().out) is not bool(measured)


@pytest.mark.parametrize("own", [[], [{"instance_group_name": "new", "partition_name": "dev"}]])
def test_memory_and_processors_of_an_unknown_type_come_from_the_nodes_report(machine: SlurmMachine, own: list[Json]) -> None:
    machine.write(CONF, (machine.root / CONF).read_text().replace(" RealMemory=2000000", ""))
    machine.write("slurm_groups.json", json.dumps({**OWN, "worker_groups": [*OWN["worker_groups"], *own]}))
    reports(machine, '{"sockets":2,"cores_per_socket":48,"threads_per_core":2,"real_memory_mib":1900000}')
    keeping, line = of(machine), "NodeAddr=10.1.0.9 CPUs=192 State=UNKNOWN RealMemory=1900000"
    machine.answers("squeue", "17 dev wrap alice R 0:10 1 ip-10-1-0-9\n")
    assert f"{line}\n" in looks(keeping, machine)
    machine.answers("squeue", "")
    assert f"{line} Sockets=2 CoresPerSocket=48 ThreadsPerCore=2\n" in looks(keeping, machine, 70)


def test_hyperpod_writes_the_partition_itself_if_it_configures_slurm(machine: SlurmMachine) -> None:
    machine.answers("slurmd", HELP)
    context = slurm_context(here=WORKER, slurm=replace(PLAIN, setup=API))
    assert "partition" not in joined_groups.option(context, machine.system)


def test_an_older_slurmd_gets_no_option_that_it_does_not_know(machine: SlurmMachine) -> None:
    machine.answers("slurmd", "   -F[feature]    Start as Dynamic Future node w/optional Feature.\n")
    assert joined_groups.option(slurm_context(here=WORKER), machine.system) == ""


def test_the_keeper_is_installed_with_the_groups_that_its_controller_knows(machine: SlurmMachine, bundle: Path) -> None:
    (bundle / "provisioning_parameters.json").write_text(json.dumps(OWN))
    keeper.install(slurm_context(bundle=bundle), machine.system)
    assert json.loads(machine.path(keeper.FOLDER / keeper.PARAMETERS).read_text()) == OWN


def test_a_partition_stays_while_its_group_has_no_nodes_and_goes_with_the_group(machine: SlurmMachine) -> None:
    reports(machine, '{"partition":"train"}')
    keeping = of(machine)
    looks(keeping, machine)
    lists(machine, {**group("new", "10.1.0.9"), "Instances": None})
    assert "PartitionName=train State=UP\n" in looks(keeping, machine)
    lists(machine, group("compute-nodes-2", "10.1.0.8"))
    assert "PartitionName=train" not in looks(keeping, machine)


def test_a_group_that_was_deleted_and_created_again_reports_again(machine: SlurmMachine) -> None:
    reports(machine, json.dumps({"partition": "train", **HARDWARE}, separators=(",", ":")))
    keeping = of(machine)
    looks(keeping, machine)
    again = {**group("new", "10.1.0.9"), "InstanceType": "ml.m5.large"}
    again["Instances"][0]["InstanceId"] = "i-again"
    lists(machine, again)
    machine.answers("scontrol", "")
    text = looks(keeping, machine)
    assert "PartitionName=train" in text
    assert "h100" not in text
    reports(machine, '{"partition":"cpu"}')
    text = looks(keeping, machine)
    assert "PartitionName=cpu Nodes=ip-10-1-0-9 State=UP\n" in text
    assert "PartitionName=train" not in text


def test_hardware_is_used_once_the_jobs_of_the_group_have_ended(machine: SlurmMachine) -> None:
    """slurmctld aborts the jobs of a node whose sockets change."""
    machine.answers("squeue", "17 dev wrap alice R 0:10 1 ip-10-1-0-9\n")
    reports(machine, json.dumps({"partition": "train", **HARDWARE}, separators=(",", ":")))
    keeping = of(machine)
    text = looks(keeping, machine)
    assert "PartitionName=train Nodes=ip-10-1-0-9 State=UP\n" in text
    assert "Sockets=2" not in text
    machine.answers("squeue", "")
    assert f"{NEW_NODE.strip()} Sockets=2" in looks(keeping, machine, 70)
    machine.answers("squeue", "18 dev wrap alice R 0:10 1 ip-10-1-0-9\n")
    replaced = group("new", "10.1.0.9")
    replaced["Instances"][0]["InstanceId"] = "i-replaced"
    for _ in range(2):  # the agent writes its lines again
        lists(machine, replaced)
        assert f"{NEW_NODE.strip()} Sockets=2" in looks(keeping, machine)


@pytest.mark.parametrize("free", [True, False])
def test_each_group_of_an_unknown_type_has_the_threads_and_the_jobs_of_its_own(machine: SlurmMachine, free: bool) -> None:
    config = json.loads(machine.path("/resource_config.json").read_text())
    for each in config["InstanceGroups"]:
        each["InstanceType"] = "ml.unknown"
    machine.write("resource_config.json", json.dumps(config))
    machine.write(CONF, (machine.root / CONF).read_text().replace("CPUs=192 ", ""))
    machine.answers("squeue", lambda arguments, _: "" if free or "--nodelist=ip-10-1-0-9" in arguments else "17 dev\n")
    report = '{"sockets":2,"cores_per_socket":48,"threads_per_core":1}'
    reports(machine, report, of_compute=report.replace("1}", "2}"))
    text, line = looks(of(machine), machine), "RealMemory=2000000 State=UNKNOWN"
    assert f"NodeAddr=10.1.0.9 {line} Sockets=2 CoresPerSocket=48 ThreadsPerCore=1\n" in text
    assert f"NodeAddr=10.1.0.6 {line}{' Sockets=2 CoresPerSocket=48 ThreadsPerCore=2' if free else ''}\n" in text


def test_an_unreadable_file_of_reports_is_said_once_and_written_again(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.write("joined_groups.json", "")
    keeping = of(machine)
    looks(keeping, machine)
    reports(machine, '{"partition":"train"}')
    assert "PartitionName=train" in looks(keeping, machine)
    assert capsys.readouterr().out.count("the reports of joined groups are read again from their nodes") == 1


@pytest.mark.parametrize("busy", [True, False])
def test_memory_comes_once_a_deployment_has_reached_the_workers(machine: SlurmMachine, busy: bool) -> None:
    """Scripts of before reported sockets and GPUs, and no memory."""
    agents = (machine.root / CONF).read_text().replace(" RealMemory=2000000", "")
    machine.write(CONF, agents)
    reports(machine, json.dumps(HARDWARE, separators=(",", ":")))
    keeping = of(machine)
    assert "CPUs=192 State=UNKNOWN Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 Gres=gpu:h100:8\n" in looks(keeping, machine)
    machine.run.commands.clear()
    looks(keeping, machine, 90)
    assert len(machine.asked("scontrol", "--oneliner")) <= 3
    machine.answers("squeue", "17 dev\n" if busy else "")
    reports(machine, '{"sockets":4,"cores_per_socket":24,"gpus":8,"gpu":"h100","real_memory_mib":1900000}')
    looks(keeping, machine, 70)
    machine.write(CONF, agents)  # the agent writes its lines again
    sockets = "Sockets=2 CoresPerSocket=48" if busy else "Sockets=4 CoresPerSocket=24"
    assert f"CPUs=192 State=UNKNOWN {sockets} ThreadsPerCore=2 Gres=gpu:h100:8 RealMemory=1900000\n" in looks(keeping, machine)
