import os
import pty
import subprocess
import sys

import pytest

from local_aws.nodes import shell
from local_aws.nodes.hub import HostError, NodeSpec
from tests.nodes.machines.some_nodes import Nodes

ENTER = """
import sys
from pathlib import Path
from local_aws.nodes.shell import enter

sys.exit(enter(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
"""


def command(nodes: Nodes, node: NodeSpec, *argv: str) -> list[str]:
    return [sys.executable, "-c", ENTER, str(nodes.hub.folder), node.id, *argv]


def test_a_program_has_the_callers_input_and_output_and_gives_its_status(nodes: Nodes, node: NodeSpec) -> None:
    entered = command(nodes, node, "sh", "-c", "cat; hostname; pwd; exit 5")
    done = subprocess.run(entered, input="typed\n", capture_output=True, text=True, check=False)

    assert (done.stdout.splitlines(), done.returncode) == (["typed", node.hostname, "/root"], 5)


def test_a_person_at_a_terminal_gets_a_login_shell_with_slurms_programs(nodes: Nodes, node: NodeSpec) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(nodes, node), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as entered:
        os.close(theirs)
        os.write(ours, b"tty; echo $PATH\n")
        shown = read_until(ours, "/opt/slurm/bin")
        # Only now: systemd-run can lose what a shell prints right before its exit.
        os.write(ours, b"exit 3\n")
        read_all(ours)

    assert "/dev/pts/" in shown
    assert "/opt/slurm/bin" in shown
    assert entered.returncode == 3


def read_until(terminal: int, text: str) -> str:
    """What comes from a terminal until it shows the text; a terminal that closes before raises OSError."""
    shown = b""
    while text.encode() not in shown:
        shown += os.read(terminal, 4096)
    return shown.decode()


def read_all(terminal: int) -> str:
    """All that comes from a terminal until the last process at its other end has gone."""
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            os.close(terminal)
            return shown.decode()


def test_a_shell_on_a_node_that_is_not_there_names_those_that_are(nodes: Nodes, node: NodeSpec) -> None:
    with pytest.raises(HostError, match=rf"^unknown node i-none; available: \['{node.id}'\]$"):
        shell.enter(nodes.hub.folder, "i-none")
