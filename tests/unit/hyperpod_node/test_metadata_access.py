"""A service of ours loads the rules for the metadata service; tests/nodes/jobs/test_metadata_access.py has their effect."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node import metadata_rules
from hyperpod_node.accounts import Account
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import metadata_access
from tests.unit.hyperpod_node.a_node import a_context, user
from tests.unit.hyperpod_node.fake_accounts import FakeAccounts
from tests.unit.hyperpod_node.fake_system import FakeSystem

UNIT, RULES = "/etc/systemd/system/hyperpod-metadata.service", "/opt/hyperpod-cdk/metadata.nft"
USERS = (user("alice", 10001), user("carol", 10003, sudo=True))


def context(access: str = "administrators") -> Context:
    found = a_context(users=USERS)
    return replace(found, settings=replace(found.settings, slurm=replace(found.settings.slurm, metadata_access=access)))


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    local = [Account(name, uid, uid, Path("/home", name)) for name, uid in (("slurm", 64030), ("ubuntu", 1000), ("bob", 1002))]
    found = FakeSystem(tmp_path, accounts=FakeAccounts(local))
    found.write("/usr/sbin/nft", "")
    return found


def test_only_root_the_image_s_administrators_and_users_with_sudo_keep_the_role(node: FakeSystem) -> None:
    metadata_access.apply(context(), node.system)
    assert "elements = { 0, 1000, 10003, 64030 }" in node.path(RULES).read_text()
    node.accounts = FakeAccounts(directory=[Account("ubuntu", 20000, 20000, Path("/home/ubuntu"))])
    metadata_access.apply(context(), node.system)
    assert "elements = { 0, 10003 }" in node.path(RULES).read_text()


@pytest.mark.fault(66)
def test_a_second_run_loads_the_rules_again_and_changes_no_file(node: FakeSystem) -> None:
    metadata_access.apply(context(), node.system)
    assert node.run.commands[:3] == [
        ("systemctl", "daemon-reload"),
        ("systemctl", "--no-reload", "enable", "hyperpod-metadata.service"),
        ("systemctl", "restart", "hyperpod-metadata.service"),
    ]
    before = [node.path(file).stat().st_mtime_ns for file in (UNIT, RULES)]
    metadata_access.apply(context(), node.system)
    assert node.run.commands.count(("systemctl", "restart", "hyperpod-metadata.service")) == 2
    assert [node.path(file).stat().st_mtime_ns for file in (UNIT, RULES)] == before


@pytest.mark.parametrize("failing", ["apt-get", "systemctl"])
def test_a_node_that_cannot_load_the_rules_works_with_a_warning(
    node: FakeSystem, failing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node.path("/usr/sbin/nft").unlink()
    node.answers(failing, NodeError("`it` ended with status 100: no network"))
    assert metadata_access.apply(context(), node.system)
    [warning] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert "all users of this node can use the node role" in warning
    assert warning.endswith("no network")


def test_a_node_whose_rules_do_nothing_works_with_a_warning(node: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    node.answers("setpriv", "169.254.0.2\n")
    metadata_access.apply(context(), node.system)
    assert "warning: all users of this node can use the node role: 169.254.0.2 answers them" in capsys.readouterr().out
    probe, again = [command for command in node.run.commands if command[0] == "setpriv"]
    assert {"--reuid=65534", "--clear-groups"} < {*probe}
    assert again == probe
    node.answers("setpriv", NodeError("`setpriv` did not end within 10 s"))
    assert not metadata_rules.is_open(node.system)
    assert "who reaches the metadata service is unknown: `setpriv`" in capsys.readouterr().out


def test_rules_that_do_nothing_are_loaded_once_more(node: FakeSystem) -> None:
    answers = iter(["169.254.169.254", ""])
    node.answers("setpriv", lambda *_: next(answers))
    assert not metadata_rules.is_open(node.system)
    assert ("systemctl", "restart", "hyperpod-metadata.service") in node.run.commands


def test_the_probe_prints_the_addresses_that_answer(node: FakeSystem) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = metadata_rules.PROBE.replace('"169.254.0.2", 9081', f'"127.0.0.1", {server.getsockname()[1]}')
        code = code.replace("169.254.169.254", "127.0.0.2").replace("fd00:ec2::254", "::2")
        assert subprocess.check_output([sys.executable, "-I", "-c", code], text=True) == "127.0.0.1\n"


def test_all_removes_the_table_and_the_service_once(node: FakeSystem) -> None:
    assert not metadata_access.apply(context("all"), node.system)
    metadata_access.apply(context(), node.system)
    assert metadata_access.apply(context("all"), node.system)
    assert ("nft", "delete", "table", "inet", "hyperpod_metadata") in node.run.commands
    assert not any(node.path(file).exists() for file in (UNIT, RULES))
    assert not metadata_access.apply(context("all"), node.system)
