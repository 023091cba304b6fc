"""One command on many compute nodes through a single session: srun on a controller.

`srun --no-allocate` needs root. It creates no job, and also reaches nodes that are drained or fully allocated.
"""

import base64
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cli.remote.sessions import Target
from cli.remote.shell import SLURM_PATH, Output, Shell

KILL_S = 5
MARGIN_S = 20
WIDTH = 1000


@dataclass(frozen=True)
class Answer:
    """The output of a host; None if the command started there and did not end."""

    output: Output | None


def limited(command: str, timeout_s: int) -> str:
    """Return a script that runs the command with Slurm's programs in PATH, and kills it after the time (exit status 124)."""
    return f"export {SLURM_PATH}\ntimeout --kill-after={KILL_S} {timeout_s} bash -c {shlex.quote(command)}"


def fan_out(shell: Shell, controller: Target, hosts: Sequence[str], command: str, timeout_s: int) -> Mapping[str, Answer]:
    """Return the answers of the hosts where the command started; the others are unknown to Slurm, or do not respond."""
    script = _script(hosts, command, timeout_s)
    output = shell.run(controller, script, timeout_s + 3 * MARGIN_S)
    return dict(_answers(output.text, hosts))


def _script(hosts: Sequence[str], command: str, timeout_s: int) -> str:
    task = base64.b64encode(_task(command, timeout_s).encode()).decode()
    return f"""\
export {SLURM_PATH}
up=$(sinfo --noheader --Node --responding --nodes={",".join(hosts)} --format=%N | sort --unique)
[ -n "$up" ] || exit 0
timeout --kill-after={KILL_S} {timeout_s + MARGIN_S} srun --no-allocate --nodelist="$(paste --serial --delimiters=, <<<"$up")" \\
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


def _answers(text: str, hosts: Sequence[str]) -> Iterator[tuple[str, Answer]]:
    lines = re.findall(r"^(\S+) ([<=>])(?: (\S+))?$", text, re.MULTILINE)
    for host in hosts:
        own = [(kind, data) for name, kind, data in lines if name == host]
        if own:
            ended = own[-1][0] == ">"
            yield host, Answer(_decoded("".join(data for kind, data in own if kind == "=")) if ended else None)


def _decoded(data: str) -> Output | None:
    """Return the output; None if a part of it is missing."""
    try:
        printed, _, status = base64.b64decode(data).decode(errors="replace").rpartition("\n")
        return Output(int(status), printed)
    except ValueError:
        return None
