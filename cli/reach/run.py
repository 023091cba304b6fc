"""`./hpod run CLUSTER NODE|GROUP|all -- CMD`: a command on nodes, with the output and exit status of each."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.deployment import Deployment
from cli.node_directory import Node, NodeDirectory, first_running, node_directory, session_shell
from cli.reach.fan_out import fan_out, limited
from cli.reach.ssh import require_plugin
from cli.remote.parallel import in_parallel
from cli.remote.sessions import SessionError
from cli.remote.shell import Output, Shell, ShellError
from cli.result import Json, Result, Verbatim
from config.instance_group import Role

NO_STATUS = 255
MARGIN_S = 30


@dataclass(frozen=True)
class NodeResult:
    """The output of a node, or why there is none."""

    node: Node
    output: Output | None
    error: str = ""

    @property
    def status(self) -> int:
        """Return the exit status; 255 without one, as ssh does."""
        return self.output.status if self.output else NO_STATUS


def run(deployment: Deployment, *, node: str, words: Sequence[str], timeout_s: int, shell: Shell | None = None) -> Result:
    """Run a command as root on the nodes of this name; the exit code is the highest of all."""
    if shell is None:
        require_plugin()
    directory = node_directory(deployment, shell)
    command = words[0] if len(words) == 1 else shlex.join(words)
    results = run_on(directory, directory.find(node, accept_all=True), command, timeout_s, shell or session_shell(deployment))
    highest = max(each.status for each in results)
    bad = [each for each in results if each.status]
    failure = f"exit status {highest}: {len(bad)} of {len(results)} nodes failed" if bad else ""
    data = {"cluster": directory.cluster, "command": command, "exit_code": highest, "nodes": [_data(each) for each in results]}
    text = [Verbatim(_text(results[0]).removesuffix("\n"))] if len(results) == 1 else [_framed(each) for each in results]
    return Result(data, text if any(text) else (), failure=failure, exit_code=highest or 1)


def run_on(directory: NodeDirectory, nodes: Sequence[Node], command: str, timeout_s: int, shell: Shell) -> list[NodeResult]:
    """Run a command on the nodes: on compute nodes by srun, and where that cannot start it in sessions."""
    done = _by_srun(directory, nodes, command, timeout_s, shell)
    rest = [node for node in nodes if node not in done]
    done |= dict(zip(rest, in_sessions(rest, command, timeout_s, shell), strict=True))
    return [done[node] for node in nodes]


def in_sessions(nodes: Sequence[Node], command: str, timeout_s: int, shell: Shell) -> list[NodeResult]:
    """Run a command on the nodes, each in a session."""
    return in_parallel(lambda node: _in_session(node, command, timeout_s, shell), nodes)


def _by_srun(
    directory: NodeDirectory, nodes: Sequence[Node], command: str, timeout_s: int, shell: Shell
) -> dict[Node, NodeResult]:
    """Return the results of the nodes where srun started the command; a single node needs no controller."""
    compute = {node.host: node for node in nodes if node.role == Role.COMPUTE and node.host}
    controllers = directory.of_role(Role.CONTROLLER)
    if len(compute) < 2 or not controllers:
        return {}
    try:
        answers = fan_out(shell, first_running(controllers).target, list(compute), command, timeout_s)
    except ShellError as error:  # the command may have started, so it must not start again
        return {node: NodeResult(node, None, str(error)) for node in compute.values()}
    except SessionError:
        return {}
    return dict(_results(compute, {host: answer.output for host, answer in answers.items()}))


def _results(nodes: Mapping[str, Node], outputs: Mapping[str, Output | None]) -> Iterator[tuple[Node, NodeResult]]:
    for host, output in outputs.items():
        yield nodes[host], NodeResult(nodes[host], output, "" if output else "the command started and did not end")


def _in_session(node: Node, command: str, timeout_s: int, shell: Shell) -> NodeResult:
    try:
        return NodeResult(node, shell.run(node.target, limited(command, timeout_s), timeout_s + MARGIN_S))
    except SessionError as error:
        return NodeResult(node, None, str(error))


def _data(result: NodeResult) -> Json:
    return {
        **result.node.names,
        "result": "failed" if result.status else "ok",
        "message": result.error or None,
        "exit_code": result.status if result.output else None,
        "output": result.output.text if result.output else None,
    }


def _framed(result: NodeResult) -> str:
    node = result.node
    ended = f"exit status {result.status}" if result.output else "no exit status"
    return Verbatim(f"== {node.label} ({node.instance}): {ended}\n{_text(result)}".rstrip("\n"))


def _text(result: NodeResult) -> str:
    return result.output.text if result.output else result.error
