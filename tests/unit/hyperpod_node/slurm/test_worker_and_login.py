"""The Slurm steps of workers and login nodes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hyperpod_node import mount, packages, secret
from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import accounting_daemon, controller_daemon, controllers, database, managed_block
from hyperpod_node.steps import (
    directory,
    extra_scripts,
    readiness,
    slurm_client,
    slurm_controller,
    ssh_restriction,
)
from tests.unit.hyperpod_node.a_node import a_directory, user
from tests.unit.hyperpod_node.slurm.slurm_machine import (
    CONTROLLER,
    IDLE,
    PLAIN,
    SECOND_CONTROLLER,
    WORKER,
    SlurmMachine,
    slurm_context,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

DEBIAN_SSHD = "@include common-account\n@include common-session\n@include common-password\n"


@pytest.mark.fault(63)
def test_a_worker_that_is_there_before_its_controller_waits_for_it(worker: SlurmMachine) -> None:
    worker.listens_after_s = 400
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    assert 400 <= worker.time.now_s < 410
    assert worker.units["slurmd"] == "active enabled"


@pytest.mark.fault(63)
def test_a_worker_whose_controller_never_comes_says_which_address_it_could_not_reach(worker: SlurmMachine) -> None:
    worker.listening = set()
    context = slurm_context(here=WORKER, instances=(CONTROLLER, SECOND_CONTROLLER, WORKER))
    with pytest.raises(NodeError, match=r"10\.1\.0\.4:6817: Connection refused; 10\.1\.0\.5:6817: Connection refused"):
        slurm_client.apply_worker(context, worker.system)
    assert worker.time.now_s <= controllers.TIMEOUT_S
    assert "slurmd" not in worker.units


@pytest.mark.fault(63)
def test_a_worker_waits_as_long_as_a_controller_may_need() -> None:
    ready = 2 * readiness.ADDRESS_TIMEOUT_S + readiness.INSTALLATIONS_TIMEOUT_S
    mounted = 2 * 2 * mount.TIMEOUT_S
    files = 2 * slurm_controller.AGENT_TIMEOUT_S  # munge's key is waited for as long
    accounting = packages.TIMEOUT_S + database.TIMEOUT_S + accounting_daemon.TIMEOUT_S
    users = packages.TIMEOUT_S + secret.TIMEOUT_S + directory.OUTAGE_S + directory.GROUPS_S
    needed = ready + mounted + files + users + accounting + controller_daemon.TIMEOUT_S
    assert extra_scripts.TIMEOUT_S + needed <= controllers.TIMEOUT_S


@pytest.mark.fault(63)
def test_workers_do_not_all_ask_at_the_same_moment() -> None:
    early, late = SlurmMachine(Path("/x")), SlurmMachine(Path("/x"))
    early.time.chance = 0.0
    for machine in (early, late):
        with pytest.raises(NodeError):
            controllers.reachable(slurm_context(here=WORKER), machine.system)
    assert early.time.pauses[:5] != late.time.pauses[:5]


def test_slurmd_knows_all_controllers_and_is_never_given_up(worker: SlurmMachine) -> None:
    slurm_client.apply_worker(slurm_context(here=WORKER, instances=(CONTROLLER, SECOND_CONTROLLER, WORKER)), worker.system)
    options = worker.root / "etc/default/slurmd"
    assert options.read_text() == "SLURMD_OPTIONS=--conf-server=10.1.0.4,10.1.0.5\n"
    unit = (worker.root / "etc/systemd/system/slurmd.service.d/hyperpod-cdk.conf").read_text()
    assert "EnvironmentFile=/etc/default/slurmd\n" in unit
    assert "StartLimitIntervalSec=0\n" in unit


@pytest.mark.parametrize("state", ["disabled", "masked"])
@pytest.mark.parametrize("more", ["--conf-server 10.1.0.4", "-M $SLURMD_OPTIONS", "-M ${SLURMD_OPTIONS} \\\n    -v"])
def test_slurmd_runs_with_our_options_whether_the_images_unit_names_their_variable_or_not(
    worker: SlurmMachine, more: str, state: str
) -> None:
    worker.units["slurmd"] = f"inactive {state}"
    worker.write("etc/systemd/system/slurmd.service", f"[Service]\nExecStart=/opt/slurm/sbin/slurmd -D {more}\n")
    worker.answers("slurmd", "   --extra                    Arbitrary descriptive string.\n")
    for _ in range(2):
        slurm_client.apply_worker(slurm_context(here=WORKER, types={}), worker.system)
    command = worker.command_line("slurmd")
    assert command[-2:] == ["--conf-server=10.1.0.4", '--extra={"partition":"dev"}']
    assert {"-D", "-M", "-v"} & set(command) == {"-D", "-M", "-v"} & {"-D", *more.split()}


@pytest.mark.parametrize("when", ["runs", "restarts"])
def test_a_slurmd_that_another_file_starts_without_our_options_fails_the_node(worker: SlurmMachine, when: str) -> None:
    worker.write("etc/systemd/system/slurmd.service.d/override.conf", "[Service]\nExecStart=/opt/slurm/sbin/slurmd -D\n")
    worker.is_restarting = when == "restarts"
    with pytest.raises(
        NodeError, match=r"the options of slurmd: .* it runs as `/opt/slurm/sbin/slurmd -D`, without .*slurmd; remove"
    ):
        slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)


def test_a_worker_has_prolog_and_epilog_before_slurmd_starts(worker: SlurmMachine) -> None:
    there: list[bool] = []
    scripts = [worker.root / path.lstrip("/") for path in (managed_block.PROLOG, managed_block.EPILOG)]
    systemctl = worker.run.programs["systemctl"]

    def watched(arguments: tuple[str, ...], stdin: str | None) -> str:
        if "restart" in arguments:
            there.append(all(script.stat().st_mode & 0o111 == 0o111 for script in scripts))
        return systemctl(arguments, stdin)

    worker.run.programs["systemctl"] = watched
    slurm_client.apply_worker(slurm_context(here=WORKER, slurm=replace(PLAIN, prolog_and_epilog=True)), worker.system)
    assert there[0]


@pytest.mark.fault(66)
def test_a_second_run_leaves_slurmd_unchanged(worker: SlurmMachine) -> None:
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    after = worker.files()
    worker.run.commands.clear()
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    assert worker.files() == after
    assert {arguments[0] for arguments in worker.run.named("systemctl")} == {"show"}


@pytest.mark.fault(67)
def test_slurmd_is_restarted_for_a_controller_with_a_new_address(worker: SlurmMachine) -> None:
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    worker.listening = {"10.1.0.99"}
    worker.run.commands.clear()
    moved = replace(CONTROLLER, address="10.1.0.99")
    slurm_client.apply_worker(slurm_context(here=WORKER, instances=(moved, WORKER)), worker.system)
    assert worker.asked("systemctl", "restart", "slurmd")
    assert "--conf-server=10.1.0.99\n" in (worker.root / "etc/default/slurmd").read_text()


@pytest.mark.fault(67)
def test_a_node_is_there_only_when_slurmctld_has_heard_of_it_under_its_own_name(worker: SlurmMachine) -> None:
    said = iter(
        [
            "NodeName=ip-10-1-0-6 State=UNKNOWN SlurmdStartTime=None",
            "NodeName=ip-10-1-0-6 State=IDLE* SlurmdStartTime=None",
            "NodeName=ip-10-1-0-6 State=IDLE SlurmdStartTime=1767225599",  # of a boot before
            "NodeName=ip-10-1-0-6 State=IDLE SlurmdStartTime=1767225600",
        ]
    )
    worker.write("/proc/stat", "cpu 1 2\nbtime 1767225600\nprocesses 9\n")
    worker.answers("scontrol", lambda *_: next(said))
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    assert worker.run.named("scontrol") == [("--oneliner", "show", "node", "ip-10-1-0-6")] * 4
    assert {"SLURM_TIME_FORMAT": "%s"} in worker.run.environments


def test_a_node_that_slurmctld_does_not_know_in_time_gets_one_warning_with_slurmds_journal(
    worker: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answers("scontrol", "NodeName=ip-10-1-0-6 State=UNKNOWN SlurmdStartTime=None")
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    [warning] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert "slurmctld to know ip-10-1-0-6: gave up " in warning
    assert "the journal of slurmd: it complains; slurmd restarts until slurmctld knows this node" in warning
    assert worker.time.now_s <= slurm_client.REGISTRATION_TIMEOUT_S
    assert worker.units["slurmd"] == "active enabled"


def test_a_node_without_a_line_in_slurm_conf_is_not_waited_for(worker: SlurmMachine, capsys: pytest.CaptureFixture[str]) -> None:
    """HyperPod's agent writes the line when the scripts have succeeded."""

    worker.answers("scontrol", NodeError("`scontrol` ended with status 1: Node ip-10-1-0-6 not found"))
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    assert "warning: slurm.conf has no line for ip-10-1-0-6; slurmd restarts" in capsys.readouterr().out
    assert worker.time.now_s < 2
    assert worker.units["hyperpod-controllers.path"] == "active enabled"


def test_a_drained_node_is_registered_all_the_same(worker: SlurmMachine) -> None:
    worker.answers("scontrol", IDLE.replace("IDLE", "IDLE+DRAIN"))
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    assert worker.time.pauses == []


@pytest.mark.fault(71)
def test_slurmctld_never_runs_on_a_worker_and_neither_daemon_on_a_login_node(worker: SlurmMachine) -> None:
    slurm_client.apply_worker(slurm_context(here=WORKER), worker.system)
    assert worker.units["slurmctld"].endswith("masked")
    slurm_client.apply_login(slurm_context(here=WORKER), worker.system)
    assert worker.units["slurmd"].endswith("masked")


def test_the_number_of_programs_of_a_worker_does_not_grow_with_the_cluster(tmp_path: Path) -> None:
    counts = []
    for size in (4, 64):
        machine = SlurmMachine(tmp_path / str(size), host="ip-10-1-0-6", listening={"10.1.0.4"})
        machine.write("run/slurm/conf/slurm.conf", "")
        machine.answers("scontrol", IDLE)
        others = tuple(replace(WORKER, name=f"w-{n}", address=f"10.1.9.{n}") for n in range(size))
        slurm_client.apply_worker(slurm_context(here=WORKER, instances=(CONTROLLER, *others, WORKER)), machine.system)
        counts.append(len(machine.run.commands))
    assert counts[0] == counts[1]


def test_login_nodes_with_sackd_keep_the_configuration_for_every_shell(worker: SlurmMachine) -> None:
    worker.write("opt/slurm/sbin/sackd", "")
    slurm_client.apply_login(slurm_context(here=WORKER), worker.system)
    assert (worker.root / "etc/default/sackd").read_text() == "SACKD_OPTIONS=--conf-server=10.1.0.4\n"
    assert worker.units["sackd"] == "active enabled"
    assert f"ExecStart={worker.root}/opt/slurm/sbin/sackd " in (worker.root / "etc/systemd/system/sackd.service").read_text()
    assert not (worker.root / "etc/environment").exists()


@pytest.mark.parametrize("step", [slurm_client.apply_login, slurm_client.apply_worker])
def test_a_slurm_conf_of_the_image_does_not_hide_that_of_the_controllers(
    worker: SlurmMachine, step: Callable[[Context, System], None]
) -> None:
    worker.write("opt/slurm/etc/slurm.conf", "# a stub\n")
    for _ in range(2):
        step(slurm_context(here=WORKER), worker.system)
    assert not worker.system.slurm_conf.exists()
    assert worker.system.slurm_conf.with_name("slurm.conf.not-on-this-node").read_text() == "# a stub\n"


def test_a_unit_of_the_image_for_sackd_is_used_as_it_is(worker: SlurmMachine) -> None:
    worker.write("usr/sbin/sackd", "")
    worker.write("usr/lib/systemd/system/sackd.service", "[Service]\nExecStart=/usr/sbin/sackd --systemd\n")
    slurm_client.apply_login(slurm_context(here=WORKER), worker.system)
    assert worker.command_line("sackd") == ["/usr/sbin/sackd", "--systemd", "--conf-server=10.1.0.4"]
    assert "Restart=always\n" in (worker.root / "etc/systemd/system/sackd.service.d/hyperpod-cdk.conf").read_text()
    assert not (worker.root / "etc/systemd/system/sackd.service").exists()


@pytest.mark.fault(66)
def test_login_nodes_without_sackd_show_the_controllers_at_every_login(worker: SlurmMachine) -> None:
    environment = worker.write("etc/environment", "LANG=C.UTF-8\nSLURM_CONF_SERVER=10.9.9.9\n")
    for _ in range(2):
        slurm_client.apply_login(slurm_context(here=WORKER), worker.system)
        assert environment.read_text() == "LANG=C.UTF-8\nSLURM_CONF_SERVER=10.1.0.4\n"
    assert (worker.root / "etc/profile.d/hyperpod-slurm.sh").read_text() == "export SLURM_CONF_SERVER=10.1.0.4\n"
    assert {"SLURM_CONF_SERVER": "10.1.0.4"} in worker.run.environments


def test_login_nodes_come_up_while_one_of_several_controllers_is_down(worker: SlurmMachine) -> None:
    worker.listening = {"10.1.0.5"}
    worker.answers("scontrol", one_is_down)
    slurm_client.apply_login(slurm_context(here=WORKER, instances=(CONTROLLER, SECOND_CONTROLLER, WORKER)), worker.system)
    assert worker.time.pauses == []


def one_is_down(*_: object) -> str:
    said = "Slurmctld(primary) at ip-10-1-0-4 is DOWN | Slurmctld(backup) at ip-10-1-0-5 is UP"
    raise NodeError(f"`scontrol ping` ended with status 1: {said}")


def test_a_login_node_whom_no_controller_answers_ends_with_what_ping_said(worker: SlurmMachine) -> None:
    worker.answers("scontrol", "Slurmctld(primary) at ip-10-1-0-4 is DOWN")
    with pytest.raises(NodeError, match=r"no controller responds: Slurmctld\(primary\) at ip-10-1-0-4 is DOWN"):
        slurm_client.apply_login(slurm_context(here=WORKER), worker.system)


def restricted_worker(machine: SlurmMachine) -> None:
    machine.write("etc/pam.d/sshd", DEBIAN_SSHD)
    machine.write("etc/pam.d/common-session", "session required pam_unix.so\nsession optional pam_systemd.so\n")
    machine.write("lib/x86_64-linux-gnu/security/pam_slurm_adopt.so", "")


RESTRICTED = replace(PLAIN, restrict_ssh=True)


@pytest.mark.fault(66)
def test_users_come_in_with_a_job_and_administrators_always(worker: SlurmMachine) -> None:
    restricted_worker(worker)
    users = (user("alice"), user("bob", 4002, sudo=True))
    for _ in range(2):
        ssh_restriction.apply(slurm_context(here=WORKER, slurm=RESTRICTED, users=users), worker.system)
        lines = (worker.root / "etc/pam.d/sshd").read_text().splitlines()
        assert lines[:3] == ["@include common-account", "@include hyperpod-session", "@include common-password"]
        assert [line.split()[:3] for line in lines[4:-1]] == [
            ["account", "sufficient", "pam_listfile.so"],
            ["account", "required", "pam_slurm_adopt.so"],
        ]
    assert (worker.root / "etc/security/hyperpod-administrators").read_text() == "root\nubuntu\nbob\n"
    assert (worker.root / "etc/pam.d/hyperpod-session").read_text() == "session required pam_unix.so\n"


def test_administrators_by_group_of_a_directory_need_no_job_either(worker: SlurmMachine) -> None:
    restricted_worker(worker)
    context = slurm_context(here=WORKER, slurm=RESTRICTED)
    settings = replace(context.settings, directory=a_directory(sudo_groups=["ml-admins", "Domain Admins"]))
    ssh_restriction.apply(replace(context, settings=settings), worker.system)
    assert (worker.root / "etc/security/hyperpod-administrator-groups").read_text() == "ml-admins\nDomain Admins\n"
    allowing = "account sufficient pam_listfile.so item=group sense=allow onerr=fail "
    lines = (worker.root / "etc/pam.d/sshd").read_text().splitlines()
    assert lines[-3:-1] == [f"{allowing}file=/etc/security/hyperpod-administrator-groups", "account required pam_slurm_adopt.so"]
    ssh_restriction.apply(context, worker.system)
    assert "item=group" not in (worker.root / "etc/pam.d/sshd").read_text()


def test_a_restriction_that_leaves_the_cluster_file_leaves_the_node(worker: SlurmMachine) -> None:
    restricted_worker(worker)
    ssh_restriction.apply(slurm_context(here=WORKER, slurm=RESTRICTED), worker.system)
    assert ssh_restriction.apply(slurm_context(here=WORKER), worker.system)
    assert (worker.root / "etc/pam.d/sshd").read_text() == DEBIAN_SSHD
    assert not ssh_restriction.apply(slurm_context(here=WORKER), worker.system)


def test_an_image_without_the_module_is_refused_before_sshd_is_touched(worker: SlurmMachine) -> None:
    restricted_worker(worker)
    shutil.rmtree(worker.root / "lib")
    with pytest.raises(NodeError, match=r"slurm\.restrict_ssh: this image does not have pam_slurm_adopt\.so"):
        ssh_restriction.apply(slurm_context(here=WORKER, slurm=RESTRICTED), worker.system)
    assert (worker.root / "etc/pam.d/sshd").read_text() == DEBIAN_SSHD
