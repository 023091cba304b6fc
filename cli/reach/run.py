"""`./hpod run CLUSTER NODE|GROUP|all -- CMD`: a command on nodes, with the output and exit status of each."""

import base64
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cli.deployment import Deployment
from cli.node_directory import Node, NodeDirectory, first_running
from cli.reach.ssh import with_shell
from cli.remote.sessions import SessionError, Target
from cli.remote.shell import SLURM_PATH, Output, Shell, ShellError, in_parallel
from cli.result import Json, Result, Verbatim
from config.instance_group import Role

NO_STATUS = 255
NO_END = "the command started and did not end"
KILL_S = 5
MARGIN_S, SRUN_S = 30, 20
"""Seconds for the start and end of a session, and of srun."""
WIDTH = 1000


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

    @property
    def text(self) -> str:
        """Return what the command printed, or why there is no output."""
        return self.output.text if self.output else self.error


def run(deployment: Deployment, *, node: str, words: Sequence[str], timeout_s: int, shell: Shell | None = None) -> Result:
    """Run a command as root on the nodes of this name; the exit code is the highest of all."""
    directory, shell = with_shell(deployment, shell)
    command = words[0] if len(words) == 1 else shlex.join(words)
    results = run_on(directory, directory.find(node, accept_all=True), command, timeout_s, shell)
    highest = max(each.status for each in results)
    bad = [each for each in results if each.status]
    failure = f"exit status {highest}: {len(bad)} of {len(results)} nodes failed" if bad else ""
    data = {"cluster": directory.cluster, "command": command, "exit_code": highest, "nodes": [_data(each) for each in results]}
    text = [Verbatim(results[0].text.removesuffix("\n"))] if len(results) == 1 else [_framed(each) for each in results]
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
        outputs = fan_out(shell, first_running(controllers).target, list(compute), command, timeout_s)
    except ShellError as error:  # the command may have started, so it must not start again
        return {node: NodeResult(node, None, str(error)) for node in compute.values()}
    except SessionError:
        return {}
    results = (NodeResult(compute[host], output, "" if output else NO_END) for host, output in outputs.items())
    return {result.node: result for result in results}


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
    return Verbatim(f"== {node.label} ({node.instance}): {ended}\n{result.text}".rstrip("\n"))


def limited(command: str, timeout_s: int) -> str:
    """Return a script that runs the command with Slurm's programs in PATH, and kills it after the time (exit status 124)."""
    return f"export {SLURM_PATH}\ntimeout --kill-after={KILL_S} {timeout_s} bash -c {shlex.quote(command)}"


def fan_out(shell: Shell, controller: Target, hosts: Sequence[str], command: str, timeout_s: int) -> dict[str, Output | None]:
    """Return the outputs of the hosts where srun started the command, None if it did not end there.

    `srun --no-allocate` needs root. It creates no job, and also reaches nodes that are drained or fully allocated. Hosts that
    are unknown to Slurm or do not respond are left out.
    """
    script = _script(hosts, command, timeout_s)
    output = shell.run(controller, script, timeout_s + 3 * SRUN_S)
    return dict(_answers(output.text, hosts))


def _script(hosts: Sequence[str], command: str, timeout_s: int) -> str:
    task = base64.b64encode(_task(command, timeout_s).encode()).decode()
    return f"""\
export {SLURM_PATH}
up=$(sinfo --noheader --Node --responding --nodes={",".join(hosts)} --format=%N | sort --unique)
[ -n "$up" ] || exit 0
timeout --kill-after={KILL_S} {timeout_s + SRUN_S} srun --no-allocate --nodelist="$(paste --serial --delimiters=, <<<"$up")" \\
    --nodes="$(wc --lines <<<"$up")" --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 --chdir=/ \\
    bash -c "$(base64 -d <<<{task})" </dev/null
"""


def _task(command: str, timeout_s: int) -> str:
    """Return the script of a host: it prints the output in lines that begin with its name, as srun mixes lines of all hosts."""
    run = limited(command, timeout_s)
    return f"""\
echo "$SLURMD_NODENAME <"
output=$(bash -c {shlex.quote(run)} </dev/null 2>&1; printf '\\n%s' $?)
printf %s "$output" | base64 --wrap={WIDTH} | sed "s/^/$SLURMD_NODENAME = /"
echo
echo "$SLURMD_NODENAME >"
"""


def _answers(text: str, hosts: Sequence[str]) -> Iterator[tuple[str, Output | None]]:
    lines = re.findall(r"^(\S+) ([<=>])(?: (\S+))?$", text, re.MULTILINE)
    for host in hosts:
        own = [(kind, data) for name, kind, data in lines if name == host]
        if own:
            ended = own[-1][0] == ">"
            yield host, _decoded("".join(data for kind, data in own if kind == "=")) if ended else None


def _decoded(data: str) -> Output | None:
    """Return the output; None if a part of it is missing."""
    try:
        printed, _, status = base64.b64decode(data).decode(errors="replace").rpartition("\n")
        return Output(int(status), printed)
    except ValueError:
        return None
