"""`hyperpod-precheck --all` as a user of the cluster runs it."""

import base64
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.jobs.submitted import Cluster
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

ALL = "hyperpod-precheck --all; echo status $?"


def row(said: str, running: Running, name: str) -> str:
    """What is said of a node, after its name."""
    host = running.machine(name)["host"]
    [found] = re.findall(rf"^{re.escape(host)} +(\S.*)$", said, re.MULTILINE)
    return str(found)


def test_a_healthy_cluster_passes_or_skips_every_check(cluster: Cluster) -> None:
    said = cluster.as_alice(ALL)

    for name in ("workers-1", "workers-2"):
        cells = row(said, cluster.running, name).split()
        assert cells[:3] == ["PASS"] * 3  # slurmd, /fsx, homes
        assert set(cells) == {"PASS", "SKIP"}
    assert said.endswith("\nstatus 0")


@pytest.fixture
def stopped(cluster: Cluster) -> Iterator[str]:
    """A worker whose slurmd is stopped until the test ends."""
    running, name = cluster.running, "workers-2"
    running.run(name, "systemctl", "stop", "slurmd")
    yield name
    running.run(name, "systemctl", "restart", "slurmd")
    running.idle(2)


def test_a_node_whose_slurmd_is_stopped_is_named_with_its_remedy_and_the_others_answer(cluster: Cluster, stopped: str) -> None:
    running = cluster.running

    said = cluster.as_alice(ALL)  # before Slurm notices, or after

    assert "FAIL" not in row(said, running, "workers-1")
    assert row(said, running, stopped).startswith("no answer: ")
    remedy = said.partition(f"\nno answer from {running.machine(stopped)['host']}\n  -> ")[2]
    assert "sudo systemctl restart slurmd" in remedy
    assert said.endswith("\nstatus 1")


# A plugin of Slurm 24.11 that only has pyxis's option, by spank.h.
PYXIS = """
struct {char *name, *info, *usage; int arg, val; void *call;} spank_options[] = {{"container-image", "I", "image", 1, 0, 0}, {0}};
const char plugin_name[] = "pyxis", plugin_type[] = "spank";
const unsigned int plugin_version = VERSION, spank_plugin_version = 1;
int slurm_spank_init(void *spank, int count, char **words) { return 0; }
"""
PROGRAM = "printf '#!/bin/sh\\necho version 1\\n' | install /dev/stdin /usr/bin/{0}; mkdir -p /etc/{0}; "
SERVICE = "printf '[Service]\\nExecStart=sleep 9999\\n' >/usr/lib/systemd/system/docker.service; systemctl daemon-reload; "
DISK = "mkdir -p /opt/sagemaker; mountpoint --quiet /opt/sagemaker || mount --bind /srv /opt/sagemaker; "
BROKEN = {
    "slurm daemon": "systemctl stop slurmd",
    "/fsx": "umount --lazy /fsx",
    "user homes": "usermod --home /home/alice alice",
    "docker": f"{PROGRAM.format('docker')}{SERVICE}systemctl mask docker",
    "docker data root": f"{PROGRAM.format('docker')}{SERVICE}{DISK}",
    "enroot runtime path": f"{PROGRAM.format('enroot')}{DISK}",
    "pyxis": PROGRAM.format("enroot"),
}


def precheck(running: Running, check: str) -> tuple[str, str]:
    """What the command prints on workers-2 of a check: its state and its fix."""
    printed = running.run("workers-2", "sh", "-c", "hyperpod-precheck || true")
    found = re.search(rf"^  (\w+)  {check}  .*(?:\n +-> (.*))?", printed, re.MULTILINE)
    assert found, printed
    return found[1], found[2] or ""


def carry_out(running: Running, fix: str) -> None:
    """Do what a fix says: write the file that it names, then run its commands."""
    name = "controller-1" if "on the controller" in fix else "workers-2"
    for text, file in re.findall(r"add `(.+?)` to (\S+?),? ", f"{fix} "):
        running.run(name, "sh", "-c", f"echo '{text}' >>{file}")
    for text, file in re.findall(r"set (\"data-root\": \".+?\") in (\S+),", fix):
        running.run(name, "sh", "-c", f"echo '{{{text}}}' >{file}")
    for command in re.findall(r"(?:^|[;:] )(sudo [^;]+)", fix.partition("; if that fails")[0]):
        running.run(name, "sh", "-c", command)


@pytest.mark.parametrize("check", BROKEN)
def test_what_a_fix_says_makes_the_check_pass(cluster: Cluster, check: str, tmp_path: Path) -> None:
    running = cluster.running
    running.run("workers-2", "sh", "-ec", BROKEN[check])
    for name in ("controller-1", "login-1", "workers-1", "workers-2") if check == "pyxis" else ():
        version = bytes(map(int, running.run(name, "slurmctld", "-V").split()[1].split("."))).hex()
        options = f"-shared -fPIC -DVERSION=0x{version} -xc - -o {tmp_path}/so".split()
        subprocess.run(["cc", *options], input=PYXIS, text=True, check=True)
        text = base64.b64encode((tmp_path / "so").read_bytes()).decode()
        running.run(name, "sh", "-c", f"echo {text} | base64 -d | install -D /dev/stdin /usr/local/lib/slurm/spank_pyxis.so")
    state, fix = precheck(running, check)
    assert state == "FAIL"
    carry_out(running, fix)
    until(lambda: precheck(running, check)[0], lambda state: state == "PASS", UP_S)
    running.run(
        "workers-2", "sh", "-c", "rm -f /usr/bin/docker /usr/bin/enroot; umount -q /opt/sagemaker; systemctl restart slurmd"
    )
    running.run("controller-1", "sh", "-c", "rm -f /opt/slurm/etc/plugstack.conf; scontrol reconfigure")
    running.idle(2)
