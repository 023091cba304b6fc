import threading
import time

import pytest

from local_aws.nodes.hub import HostError, NodeFile, NodeSpec
from tests.nodes.machines.some_nodes import Nodes


def test_lines_come_while_the_program_runs_and_then_its_status(nodes: Nodes, node: NodeSpec) -> None:
    lines: list[str] = []

    def heard(line: str) -> None:
        lines.append(line)
        nodes.hub.put(node.id, {f"/run/heard-{line}": NodeFile(b"")})

    script = "echo one; until [ -e /run/heard-one ]; do sleep 0.05; done; echo two >&2; printf three; exit 7"
    status = nodes.hub.run(node.id, "bash", "-c", script, on_line=heard, timeout_s=30)

    assert (lines, status) == (["one", "two", "three"], 7)


def test_a_program_has_its_environment_and_folder_and_little_else(nodes: Nodes, node: NodeSpec) -> None:
    lines: list[str] = []

    nodes.hub.run(
        node.id,
        "sh",
        "-c",
        "pwd; echo $COLOUR; echo $HOME; id -u",
        environment={"COLOUR": "a b;c"},
        folder="/opt",
        on_line=lines.append,
    )

    assert lines == ["/opt", "a b;c", "/root", "0"]


def test_a_program_gets_its_arguments_as_they_are_dollars_included(nodes: Nodes, node: NodeSpec) -> None:
    lines: list[str] = []

    nodes.hub.run(node.id, "printf", "%s\\n", "$HOME", "${HOME}", "$$", "%H", on_line=lines.append)

    assert lines == ["$HOME", "${HOME}", "$$", "%H"]


def test_a_program_runs_as_a_unit_of_the_given_name_which_can_be_used_again(nodes: Nodes, node: NodeSpec) -> None:
    for _ in range(2):
        lines: list[str] = []
        nodes.hub.run(node.id, "cat", "/proc/self/cgroup", unit="on-create", on_line=lines.append)
        assert any(line.endswith("/on-create.service") for line in lines)


def test_a_program_that_takes_too_long_is_killed_with_all_it_started(nodes: Nodes, node: NodeSpec) -> None:
    with pytest.raises(HostError, match=r"'bash -c .*' did not end within 0\.5 s and was killed"):
        nodes.hub.run(node.id, "bash", "-c", "sleep 12345 & trap '' TERM; sleep 12345", timeout_s=0.5)

    assert nodes.status(node, "pgrep -x sleep") == ([], 1)


def test_what_a_program_leaves_in_the_background_ends_with_it(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.sh(node, "(sleep 12345 &); echo done") == ["done"]

    assert nodes.status(node, "pgrep -x sleep") == ([], 1)


def test_a_program_ends_when_its_reader_does(nodes: Nodes, node: NodeSpec) -> None:
    def tired(line: str) -> None:
        raise RuntimeError(line)

    with pytest.raises(RuntimeError, match=r"^line$"):
        nodes.hub.run(node.id, "bash", "-c", "while echo line; do sleep 0.05; done", unit="chatter", on_line=tired)

    nodes.sh(node, "while systemctl is-active --quiet chatter; do sleep 0.05; done")


def test_a_program_that_is_not_there_fails_and_says_so(nodes: Nodes, node: NodeSpec) -> None:
    lines: list[str] = []

    assert nodes.hub.run(node.id, "no-such-program", on_line=lines.append) != 0
    assert "no-such-program" in lines[0]


def test_a_stop_ends_what_runs_on_the_node_with_an_error(nodes: Nodes) -> None:
    node = nodes.boot()
    started, errors = threading.Event(), list[str]()

    def run() -> None:
        try:
            nodes.hub.run(node.id, "bash", "-c", "echo started; sleep 12345", on_line=lambda _: started.set())
        except HostError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(30)
    nodes.hub.stop(node.id)
    thread.join(30)

    assert errors == [f"node {node.id} stopped while 'bash -c echo started; sleep 12345' ran"]


def test_a_file_is_replaced_at_once_and_its_folders_are_made(nodes: Nodes, node: NodeSpec) -> None:
    nodes.hub.put(node.id, {"/opt/new/folder/file": NodeFile(b"old\n")})
    before = nodes.sh(node, "exec 3</opt/new/folder/file; stat -c %i /opt/new/folder/file")

    nodes.hub.put(node.id, {"/opt/new/folder/file": NodeFile(b"new\n", 0o600, "ubuntu")})

    assert nodes.sh(node, "cat /opt/new/folder/file; stat -c '%U %a' /opt/new/folder/file") == ["new", "ubuntu 600"]
    assert nodes.sh(node, "stat -c %i /opt/new/folder/file; ls -A /opt/new/folder") != [*before, "file"]


def test_a_node_that_is_not_there_is_named_with_those_that_are(nodes: Nodes, node: NodeSpec) -> None:
    with pytest.raises(HostError, match=rf"^unknown node i-none; available: \[.*'{node.id}'"):
        nodes.hub.run("i-none", "true")


def test_many_programs_run_at_once(nodes: Nodes, node: NodeSpec) -> None:
    start = time.monotonic()
    threads = [threading.Thread(target=nodes.sh, args=(node, "sleep 2")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert time.monotonic() - start < 12


@pytest.mark.parametrize(
    ("mounts", "seen_by_the_node", "sees_the_nodes"),
    [("host", "tmpfs", "tmpfs"), ("slave", "none", "tmpfs"), ("private", "none", "none")],
)
def test_a_program_may_have_mounts_of_its_own(
    nodes: Nodes, node: NodeSpec, mounts: str, seen_by_the_node: str, sees_the_nodes: str
) -> None:
    kind = "findmnt --noheadings --output=FSTYPE --mountpoint"
    lines: list[str] = []
    until = "until [ -e /run/{} ]; do sleep 0.05; done"
    script = f"mkdir -p /a /b; mount -t tmpfs a /a; touch /run/mounted; {until.format('look')}; {kind} /b || echo none"
    started = threading.Thread(
        target=nodes.hub.run,
        args=(node.id, "bash", "-c", script),
        kwargs={"mounts": mounts, "on_line": lines.append, "timeout_s": 60},
    )
    started.start()
    seen = nodes.sh(
        node, f"until [ -e /run/mounted ]; do sleep 0.05; done; {kind} /a || echo none; mount -t tmpfs b /b; touch /run/look"
    )
    started.join()
    nodes.sh(node, "umount /b; umount /a 2>/dev/null; rm /run/mounted /run/look")

    assert (seen, lines) == ([seen_by_the_node], [sees_the_nodes])
