"""What keeps our part of slurm.conf when HyperPod's agent writes it anew."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import keeper
from hyperpod_node.slurm.keeper import Keeper
from tests.node_settings import P5_TYPE, node_settings, slurm
from tests.unit.hyperpod_node.slurm.slurm_machine import SLURM_CONF, TWO_CONF, SlurmMachine, slurm_context

CONF = "opt/slurm/etc/slurm.conf"
ADDED = " Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 Gres=gpu:h100:8"
SLURM = slurm(prolog_and_epilog=False)
SETTINGS = node_settings(instance_types=P5_TYPE, slurm=SLURM)

PARAMETERS = {
    "controller_group": "controller-machine",
    "worker_groups": [{"instance_group_name": "compute-nodes", "partition_name": "dev"}],
}


def resource_config(*addresses: str) -> str:
    instances = [
        {"InstanceName": f"compute-nodes-{n}", "CustomerIpAddress": address, "InstanceId": f"i-{n}"}
        for n, address in enumerate(addresses)
    ]
    group = {"Name": "compute-nodes", "InstanceType": "ml.p5.48xlarge", "Instances": instances}
    return json.dumps({"ClusterConfig": {"ClusterName": "demo"}, "InstanceGroups": [group]})


@pytest.fixture
def machine(tmp_path: Path) -> SlurmMachine:
    machine = SlurmMachine(tmp_path)
    machine.write(CONF, SLURM_CONF)
    machine.write("resource_config.json", resource_config("10.1.0.6"))
    machine.write("node_settings.json", json.dumps(SETTINGS))
    machine.write("slurm_groups.json", json.dumps(PARAMETERS))
    reported = '{"instance": "i-0", "hardware": true, "instance_type": "", "report": {"real_memory_mib": 1}}'
    machine.write("joined_groups.json", f'{{"compute-nodes": {reported}}}')
    return machine


def of(machine: SlurmMachine) -> Keeper:
    return Keeper(machine.root / "resource_config.json", machine.root / "node_settings.json", machine.system)


def agent_adds(machine: SlurmMachine, address: str = "10.1.0.7") -> None:
    """Write slurm.conf as the agent does when the cluster grows: our block stays, the node lines are new."""
    text = (machine.root / CONF).read_text().replace(ADDED, "")
    first = "NodeName=ip-10-1-0-6"
    line = f"NodeName=ip-{address.replace('.', '-')} NodeAddr={address} CPUs=192 State=UNKNOWN\n"
    machine.write("resource_config.json", resource_config("10.1.0.6", address))
    machine.write(CONF, text.replace(first, line + first))


def looks(keeping: Keeper, times: int) -> list[bool]:
    return [keeping.check() for _ in range(times)]


def test_nodes_that_the_agent_adds_are_completed_and_all_daemons_are_notified_once(machine: SlurmMachine) -> None:
    keeping = of(machine)
    looks(keeping, 3)
    agent_adds(machine)
    machine.run.commands.clear()
    assert looks(keeping, 5) == [False, True, False, False, False]
    assert (machine.root / CONF).read_text().count(ADDED) == 2
    assert machine.run.commands == [("scontrol", "reconfigure")]


@pytest.mark.parametrize("text", ["", "# written by the agent\n", None])
def test_a_gres_conf_that_the_agent_empties_is_written_again(machine: SlurmMachine, text: str | None) -> None:
    keeping = of(machine)
    looks(keeping, 3)
    gres = machine.root / "opt/slurm/etc/gres.conf"
    ours = gres.read_text()
    assert "Type=h100" in ours
    gres.unlink()
    if text is not None:
        machine.write("opt/slurm/etc/gres.conf", text)
    machine.run.commands.clear()
    assert looks(keeping, 4) == [False, True, False, False]
    assert gres.read_text() == ours
    assert machine.run.commands == [("scontrol", "reconfigure")]


def test_a_file_that_is_being_written_is_not_touched(machine: SlurmMachine) -> None:
    keeping = of(machine)
    looks(keeping, 3)
    for part in (100, 200, 300):
        machine.write(CONF, SLURM_CONF[:part])
        assert keeping.check() is False
        assert (machine.root / CONF).read_text() == SLURM_CONF[:part]


def test_a_start_with_complete_files_notifies_no_daemon(machine: SlurmMachine) -> None:
    of(machine).complete()
    assert looks(of(machine), 3) == [False] * 3
    assert machine.run.commands == []


def test_a_change_that_needs_nothing_of_ours_still_reaches_the_workers(machine: SlurmMachine) -> None:
    keeping = of(machine)
    keeping.complete()
    looks(keeping, 3)
    agent_adds(machine)
    of(machine).complete()  # as before slurmctld starts
    assert True in looks(keeping, 3)
    assert machine.asked("scontrol", "reconfigure")


def test_a_file_that_the_agent_writes_while_slurmctld_is_reconfigured_is_completed(machine: SlurmMachine) -> None:
    keeping = of(machine)
    looks(keeping, 3)
    addresses = iter(["10.1.0.8"])

    def agent_writes(*_: object) -> str:
        for address in addresses:
            agent_adds(machine, address)
        return ""

    machine.answers("scontrol", agent_writes)
    agent_adds(machine)
    assert looks(keeping, 5) == [False, True, False, True, False]
    assert (machine.root / CONF).read_text().count(ADDED) == 2


def test_a_slurmctld_that_is_being_restarted_is_asked_again(machine: SlurmMachine) -> None:
    machine.answers("scontrol", "", after_s=5)
    assert looks(of(machine), 2) == [False, True]
    assert machine.time.now_s >= 5


@pytest.fixture
def main_of(machine: SlurmMachine, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run the program on the first of two controllers, whose state folder is /state."""
    machine.write(CONF, TWO_CONF)
    machine.write("node_settings.json", json.dumps({**SETTINGS, "slurm": slurm(state_folder="/state")}))
    beat(machine, place=0)

    def main(*options: str, sleep: Callable[[float], None]) -> None:
        files = [str(machine.root / name) for name in ("resource_config.json", "node_settings.json")]
        monkeypatch.setattr(sys, "argv", ["keeper", *files, *options])
        clock = replace(machine.system.clock, sleep=sleep)
        monkeypatch.setattr(keeper, "SYSTEM", replace(machine.system, clock=clock))
        keeper.main()

    return main


def beat(machine: SlurmMachine, place: int) -> None:
    folder = machine.path("/state")
    folder.mkdir(exist_ok=True)
    (folder / "heartbeat.new").write_bytes(struct.pack(">QQ", int(time.time()), place))
    (folder / "heartbeat.new").replace(folder / "heartbeat")


def test_a_superseded_slurmctld_is_killed_while_scontrol_hangs(machine: SlurmMachine, main_of: Callable[..., None]) -> None:
    looked, end = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        if threading.current_thread() is threading.main_thread():
            if end.is_set():
                raise SystemExit
            return
        looked.set()
        if end.wait(0.001):
            threading.Event().wait()  # until pytest ends: the thread never does

    def hang(*_: object) -> str:
        looked.wait(2)
        beat(machine, place=1)
        deadline = time.monotonic() + 2
        while not machine.asked("systemctl", "kill") and time.monotonic() < deadline:
            time.sleep(0.001)
        end.set()
        return ""

    machine.answers("scontrol", hang)
    with pytest.raises(SystemExit):
        main_of(sleep=sleep)
    assert machine.asked("systemctl", "kill") == [("kill", "--signal=KILL", "slurmctld")]


def test_control_is_taken_back_even_if_slurm_conf_cannot_be_completed(
    machine: SlurmMachine, main_of: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    beat(machine, place=1)
    machine.write("resource_config.json", "{")
    with pytest.raises(NodeError, match="is not complete JSON"):
        main_of("--once", sleep=machine.system.clock.sleep)
    assert "another controller may be in control" in capsys.readouterr().out


@pytest.mark.fault(66)
def test_the_installed_keeper_completes_the_file_before_slurmctld_starts_without_what_was_downloaded(
    machine: SlurmMachine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bundle = tmp_path_factory.mktemp("bundle")
    (bundle / "node_settings.json").write_text(json.dumps(SETTINGS))
    (bundle / "provisioning_parameters.json").write_text(json.dumps(PARAMETERS))
    command = keeper.install(slurm_context(bundle=bundle), machine.system)
    folder = machine.path(keeper.FOLDER)
    code = (
        "from pathlib import Path; from hyperpod_node.slurm.keeper import Keeper; from hyperpod_node.system import System; "
        f"root = Path({str(machine.root)!r}); "
        f"Keeper(root / 'resource_config.json', Path({str(folder / keeper.SETTINGS)!r}), System(root=root)).complete()"
    )
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-B", "-c", code], env=environment, cwd="/", check=True, timeout=30)
    assert ADDED in (machine.root / CONF).read_text()
    keeper.start(command, machine.system)
    assert f"ExecStart={command}\n" in (machine.root / "etc/systemd/system/hyperpod-slurm-conf.service").read_text()
    assert f"PYTHONPATH={folder} " in command
    assert machine.units["hyperpod-slurm-conf"] == "active enabled"


def test_the_keeper_leaves_login_nodes_out(machine: SlurmMachine) -> None:
    machine.write("slurm_groups.json", json.dumps({**PARAMETERS, "login_group": "login-group"}))
    content = json.loads(resource_config("10.1.0.6"))
    login = {"InstanceName": "login-group-1", "CustomerIpAddress": "10.1.0.5", "InstanceId": "i-5"}
    content["InstanceGroups"].append({"Name": "login-group", "InstanceType": "ml.m5.large", "Instances": [login]})
    machine.write("resource_config.json", json.dumps(content))
    line = "NodeName=ip-10-1-0-5 NodeAddr=10.1.0.5 CPUs=2 State=UNKNOWN"
    machine.write(CONF, SLURM_CONF.replace("PartitionName", f"{line}\nPartitionName"))
    of(machine).complete()
    assert f"\n#hyperpod_node# {line}\n" in (machine.root / CONF).read_text()


@pytest.mark.parametrize("absent", [{"Instances": None}, {}])
def test_a_group_without_nodes_does_not_stop_the_keeper(machine: SlurmMachine, absent: dict[str, None]) -> None:
    content = json.loads(resource_config("10.1.0.6"))
    content["InstanceGroups"].append({"Name": "empty", "InstanceType": "ml.c5.xlarge", **absent})
    machine.write("resource_config.json", json.dumps(content))
    assert looks(of(machine), 2) == [False, True]
    assert ADDED in (machine.root / CONF).read_text()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not complete JSON"),
        ('{"ClusterConfig": {"ClusterName": "demo"}, "InstanceGroups": null}', "slurm.conf is not complete: "),
        ('{"ClusterConfig": 3, "InstanceGroups": [1]}', "slurm.conf is not complete: "),
        ("\xff", "slurm.conf is not complete: "),
    ],
)
def test_a_malformed_file_is_reported_once_and_looked_at_again(
    machine: SlurmMachine, content: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.root / "resource_config.json").write_bytes(content.encode("latin-1"))
    keeping = of(machine)
    assert looks(keeping, 4) == [False] * 4
    assert capsys.readouterr().out.count(problem) == 1
    machine.write("resource_config.json", resource_config("10.1.0.6"))
    assert looks(keeping, 2) == [False, True]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "slurm.conf is missing; HyperPod's agent writes it"),
        (b"# \xff not UTF-8\n", "slurm.conf is not complete: unexpected UnicodeDecodeError"),
    ],
    ids=["gone", "an error that is no NodeError"],
)
def test_a_slurm_conf_that_cannot_be_read_is_reported_once_and_waited_for(
    machine: SlurmMachine, content: bytes | None, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keeping, conf = of(machine), machine.root / CONF
    conf.unlink()
    if content is not None:
        conf.write_bytes(content)
    assert looks(keeping, 3) == [False] * 3
    assert capsys.readouterr().out.count(problem) == 1
    machine.write(CONF, SLURM_CONF)
    assert looks(keeping, 2) == [False, True]
    assert ADDED in conf.read_text()


def test_partitions_are_completed_again_when_the_agent_rewrites_its_lines(machine: SlurmMachine) -> None:
    options = {"Default": "YES", "MaxTime": "60"}
    partitions = [
        {"name": "dev", "groups": None, "options": {"State": "DRAIN"}},
        {"name": "all", "groups": ["compute-nodes"], "options": options},
    ]
    machine.write("node_settings.json", json.dumps({**SETTINGS, "slurm": {**SLURM, "partitions": partitions}}))
    keeping = of(machine)
    looks(keeping, 3)
    assert "PartitionName=all Nodes=ip-10-1-0-6 Default=YES MaxTime=60\n" in (machine.root / CONF).read_text()
    text = (machine.root / CONF).read_text()
    ours = next(line for line in text.splitlines(keepends=True) if line.startswith("PartitionName=dev"))
    assert "State=DRAIN" in ours
    assert "Default" not in ours
    machine.write(CONF, text.replace(ours, "").replace("#hyperpod_node# PartitionName=dev", "PartitionName=dev"))
    agent_adds(machine)
    assert True in looks(keeping, 3)
    again = (machine.root / CONF).read_text()
    assert ours in again
    assert "PartitionName=all Nodes=ip-10-1-0-6,ip-10-1-0-7 Default=YES MaxTime=60\n" in again
