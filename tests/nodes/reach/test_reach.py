"""Commands reach real shells, and OpenSSH's programs use the entries of `ssh --config`. The nodes boot once for all tests."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from tests.nodes.reach.conftest import USER, Operator

pytestmark = pytest.mark.local


@pytest.fixture(scope="module")
def configured(operator: Operator) -> Operator:
    """The user after `hpod ssh --config`."""
    assert "no host key" not in operator.hpod("ssh", "ml", "--config", *operator.login)
    return operator


def test_nodes_shows_the_names_that_each_part_of_the_cluster_uses(operator: Operator) -> None:
    listed = json.loads(operator.hpod("nodes", "ml", "--output", "json"))["data"]["nodes"]
    names = {(each["name"], each["instance_id"], each["host"], each["address"]) for each in listed}
    assert names == {(each["name"], each["id"], each["host"], each["address"]) for each in operator.cluster.runner.describe()}


@pytest.mark.parametrize(("options", "who"), [((), "root"), (("--user", USER), USER)])
def test_ssh_opens_a_shell_at_this_terminal(operator: Operator, options: tuple[str, ...], who: str) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cli", "ssh", "ml", "workers-1", *options]
    with subprocess.Popen(
        command, cwd=operator.home, env=operator.environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as shell:
        os.close(theirs)
        os.write(ours, b"echo I am $(whoami) on $(hostname) at $(tty).\n")
        shown = _until(ours, r"I am (\S+) on (\S+) at /dev/pts/\d+\.")
        os.write(ours, b"exit\n")
        _until(ours, "Exiting session")
    os.close(ours)
    assert (shown[1], shown[2]) == (who, operator.cluster.machine("workers-1")["host"])
    assert shell.returncode == 0


def test_run_reaches_all_nodes_with_the_exit_status_of_each(operator: Operator) -> None:
    operator.cluster.idle(2)
    line = 'echo "it\'s $(hostname)"; [ "$(hostname)" != {} ] || exit 3'.format(operator.cluster.machine("workers-2")["host"])
    found = json.loads(operator.hpod("run", "ml", "all", "--output", "json", "--", line, status=3))["data"]
    assert {node["host"]: (node["exit_code"], node["output"]) for node in found["nodes"]} == {
        each["host"]: (3 if each["name"] == "workers-2" else 0, f"it's {each['host']}\n")
        for each in operator.cluster.runner.describe()
    }


def test_run_of_one_node_prints_its_output_only(operator: Operator) -> None:
    assert operator.hpod("run", "ml", "controller", "--", "sinfo", "--noheader", "--format=%N").strip() == "ip-10-1-0-[6-7]"


def test_run_kills_a_command_that_does_not_end(operator: Operator) -> None:
    printed = operator.hpod("run", "ml", "workers", "--timeout", "1s", "--", "echo begun; sleep 60", status=124)
    assert printed.count("exit status 124\nbegun\n") == 2


def test_ssh_scp_and_sftp_use_the_entries(configured: Operator) -> None:
    host, config = configured.cluster.machine("workers-1")["host"], str(configured.home / ".ssh" / "config")
    assert configured.run("ssh", "-F", config, "ml-workers-1", "whoami; hostname") == f"{USER}\n{host}\n"
    assert configured.run("ssh", "-F", config, "ml", "hostname").strip() == configured.cluster.machine("login-1")["host"]
    (configured.home / "sent").write_text("sent\n")
    configured.run("scp", "-q", "-F", config, "sent", f"ml-{host}:")
    (configured.home / "batch").write_text("get sent got\n")
    configured.run("sftp", "-q", "-F", config, "-b", "batch", "ml-workers-1")
    assert (configured.home / "got").read_text() == "sent\n"


def test_a_second_run_changes_nothing(configured: Operator) -> None:
    assert "is up to date" in configured.hpod("ssh", "ml", "--config", *configured.login)


def test_a_changed_host_key_is_refused(configured: Operator) -> None:
    known, node = configured.home / ".ssh" / "hyperpod-cdk" / "ml.known_hosts", configured.cluster.machine("workers-1")["id"]
    before = known.read_text()
    other = next(line.split(" ", 1)[1] for line in before.splitlines() if "ssh-ed25519" in line and node not in line)
    known.write_text(f"{node} {other}\n")
    command = ["ssh", "-F", str(configured.home / ".ssh" / "config"), "ml-workers-1", "true"]
    try:
        with (configured.home / "refused").open("w") as errors:  # the proxy command may outlive ssh, and keep a pipe open
            status = subprocess.run(command, env=configured.environment, stderr=errors, check=False).returncode
    finally:
        known.write_text(before)
    assert status == 255
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in (configured.home / "refused").read_text()


def test_copy_goes_both_ways_with_folders(operator: Operator) -> None:
    folder = operator.home / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("content\n")
    operator.hpod("copy", "ml", "folder", "workers-1:/tmp/there", *operator.login)
    assert operator.cluster.run("workers-1", "cat", "/tmp/there/deep/file") == "content"
    operator.hpod("copy", "ml", "workers-1:/tmp/there", "back", *operator.login)
    assert (operator.home / "back" / "deep" / "file").read_text() == "content\n"


def _until(terminal: int, pattern: str) -> re.Match[str]:
    """What a terminal shows, up to this pattern; the test's own limit of time ends a wait for ever."""
    shown = ""
    while (found := re.search(pattern, shown)) is None:
        shown += os.read(terminal, 4096).decode(errors="replace")
    return found
