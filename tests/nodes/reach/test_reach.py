"""Commands reach real shells, and OpenSSH's programs use the entries of `ssh --config`. The nodes boot once for all tests."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from local_aws.hyperpod import health_records
from tests.nodes.cluster.operated import FILE, data_of, fitting
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.reach.conftest import USER, Operator
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local


@pytest.fixture(scope="module")
def configured(operator: Operator) -> Operator:
    """The user after `hpod ssh --config`."""
    assert "no host key" not in operator.hpod("ssh", "ml", "--config", *operator.login)
    return operator


def test_nodes_shows_the_names_that_each_part_of_the_cluster_uses(operator: Operator) -> None:
    listed = data_of("nodes", operator.hpod("nodes", "ml", "--output", "json"))["nodes"]
    names = {(each["name"], each["instance_id"], each["host"], each["address"]) for each in listed}
    assert names == {(each["name"], each["id"], each["host"], each["address"]) for each in operator.cluster.runner.describe()}


def test_list_and_outputs_name_the_deployed_cluster(operator: Operator) -> None:
    [listed] = data_of("list", operator.hpod("list", "--output", "json"))["clusters"]
    assert (listed["name"], listed["region"], listed["status"]) == ("ml", "us-west-2", "CREATE_COMPLETE")
    outputs = data_of("outputs", operator.hpod("outputs", "ml", "--output", "json"))["outputs"]
    assert outputs == {"ClusterName": "ml"}


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
    found = data_of("run", operator.hpod("run", "ml", "all", "--output", "json", "--", line, status=3))
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
    assert "is up to date" in " ".join(configured.hpod("ssh", "ml", "--config", *configured.login).split())


def test_a_name_that_root_on_the_controller_wrote_reaches_no_file_of_the_operator(configured: Operator) -> None:
    attack = "workers-1\\n  ProxyCommand touch PWNED\\nHost *\\n  ProxyCommand touch PWNED"
    config, ssh = "/opt/ml/config/resource_config.json", configured.home / ".ssh"
    before = {file: file.read_bytes() for file in ssh.rglob("*") if file.is_file()}
    program = f"import pathlib; p = pathlib.Path({config!r}); p.write_text(p.read_text().replace('workers-1', {attack!r}))"
    configured.hpod("run", "ml", "controller", "--", f"cp {config} /root/saved.json")
    configured.hpod("run", "ml", "controller", "--", "python3", "-c", program)
    try:
        configured.hpod("ssh", "ml", "--config", *configured.login)
        written = (ssh / "hyperpod-cdk" / "ml.conf").read_text()
        assert "PWNED" not in written + configured.hpod("nodes", "ml")
        assert (ssh / "config").read_bytes() == before[ssh / "config"]
    finally:
        configured.hpod("run", "ml", "controller", "--", f"mv /root/saved.json {config}")
        configured.hpod("ssh", "ml", "--config", *configured.login)
    assert {file: file.read_bytes() for file in before} == before


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
    data_of("copy", operator.hpod("copy", "ml", "workers-1:/tmp/there", "back", *operator.login, "--output", "json"))
    assert (operator.home / "back" / "deep" / "file").read_text() == "content\n"


def test_logs_prints_what_the_scripts_of_a_node_printed(operator: Operator) -> None:
    node, script = operator.cluster.machine("workers-1"), operator.cluster.log_of("workers-1")
    listed = fitting(operator.hpod("logs", "ml"))
    assert all(each["id"] in listed for each in operator.cluster.runner.describe())
    assert f"on_create of {node['host']}" in script
    assert operator.hpod("logs", "ml", node["host"]).splitlines() == script
    found = data_of("logs", operator.hpod("logs", "ml", node["address"], "--output", "json"))
    assert (found["node"]["instance_id"], found["kind"], found["lines"]) == (node["id"], "lifecycle", script)


def test_logs_prints_the_records_of_the_health_agent(operator: Operator) -> None:
    node = operator.cluster.machine("workers-2")
    record = health_records.write(node["id"], xid=48)["record"]
    printed = operator.hpod("logs", "ml", node["host"], "--kind", "health")
    assert json.loads(printed) == record
    listed = data_of("logs", operator.hpod("logs", "ml", "--kind", "health", "--output", "json"))
    assert [each["node"]["instance_id"] for each in listed["logs"]] == [node["id"]]


def test_nodes_are_deleted_after_their_jobs_and_leave_slurm_and_the_file(operator: Operator) -> None:
    """The last test of this cluster: it leaves no workers."""
    cluster, file = operator.cluster, operator.home / "clusters" / "ml.yaml"
    cluster.idle(2)
    leaving, last = cluster.machine("workers-2"), cluster.machine("workers-1")
    job = _job_on(cluster, leaving["host"])

    printed = fitting(operator.hpod("delete", "ml", "workers-2", "--yes", "--scale"))

    assert re.search(rf"^{job} +root +RUNNING .* {leaving['host']} ", printed, re.MULTILINE)
    assert f"waiting for 1 job to end: {job}" in printed
    assert re.search(rf"^workers-2 +{leaving['id']} +deleted$", printed, re.MULTILINE)
    assert "JobState=COMPLETED" in cluster.run("controller-1", "scontrol", "show", "job", job)
    assert file.read_text() == FILE.replace("instance_count: 2", "instance_count: 1")
    assert leaving["id"] not in {node["InstanceId"] for node in cluster.world.nodes()}
    assert leaving["host"] not in cluster.idle(1)

    deleted = operator.hpod("delete", "ml", last["address"], "--yes", "--scale", "--output", "json")
    assert [node["instance_id"] for node in data_of("delete", deleted)["nodes"]] == [last["id"]]
    assert {node["InstanceGroupName"] for node in cluster.world.nodes()} == {"controller", "login"}


def _job_on(cluster: Running, host: str) -> str:
    """The number of a job that runs on a node, and ends after the node is drained."""
    wrap = f"until sinfo --noheader --nodes={host} --format=%T | grep -q drain; do sleep 0.2; done; sleep 4"
    options = ("--parsable", "--chdir=/tmp", "--output=/dev/null", f"--nodelist={host}", f"--wrap={wrap}")
    job = cluster.run("controller-1", "sbatch", *options)
    state = ("squeue", "--noheader", f"--jobs={job}", "--format=%T")
    until(lambda: cluster.run("controller-1", *state), lambda state: state == "RUNNING", UP_S)
    return job


def _until(terminal: int, pattern: str) -> re.Match[str]:
    """What a terminal shows, up to this pattern; the test's own limit of time ends a wait for ever."""
    shown = ""
    while (found := re.search(pattern, shown)) is None:
        shown += os.read(terminal, 4096).decode(errors="replace")
    return found
