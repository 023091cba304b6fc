"""What a node has that the simulation must match: HyperPod's and Slurm's files, and what programs print."""

import base64
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cli.remote.sessions import Target
from cli.remote.shell import Shell, ShellError

FILES = (
    "/opt/ml/config/*.json",
    *(f"/opt/slurm/etc/{name}" for name in ("slurm.conf", "gres.conf", "cgroup.conf", "accounting.conf", "topology.*")),
    "/run/slurm/conf/slurm.conf",
    "/etc/os-release",
)
METADATA = ("169.254.169.254", "169.254.0.2:9081", "[fd00:ec2::254]")
CONNECTION_REFUSED = 7  # of curl, also without a route; 28: the packets are lost
AS_NOBODY = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
COMMANDS: Mapping[str, str] = {
    "hostname": "hostname; hostname --fqdn",
    "df": "df -h",
    "findmnt": "findmnt --real",
    "scontrol-show-config": "scontrol show config",
    "sinfo": "sinfo --Node --long",
    "slurm-version": "sinfo --version",
    "namespaces": "readlink /proc/self/ns/mnt /proc/1/ns/mnt",
    "units": "systemctl is-active munge slurmctld slurmd slurmdbd mariadb",
    "folders": "ls -l /opt/ml/config /opt/slurm/etc",
    "kernel": "uname -r",
    "python": "python3 --version",
    "lustre": "modinfo lustre",
    "metadata": f"for place in {' '.join(METADATA)}; do {AS_NOBODY} curl -s -m 5 http://$place/ >/dev/null; echo $place $?; done",
}
PATH = "export PATH=/opt/slurm/bin:/opt/slurm/sbin:$PATH\n"
_FRAME = re.compile(r"^@@ (file|command) (\S+) (\d+)\n([A-Za-z0-9+/=\n]*)^@@ end$", re.MULTILINE)


@dataclass(frozen=True)
class NodeReport:
    """The files of a node by path, and the output of commands by name."""

    files: Mapping[str, str]
    commands: Mapping[str, str]

    def entries(self) -> Iterator[tuple[str, str]]:
        """Yield every file and output with a relative path to save it at."""
        for path, text in self.files.items():
            yield path.lstrip("/"), text
        for name, text in self.commands.items():
            yield f"commands/{name}.txt", text

    def open_metadata(self) -> list[str]:
        """Return the addresses of the metadata service that did not refuse the connection of a user."""
        lines = self.commands["metadata"].splitlines()
        return [place for place in METADATA if f"{place} {CONNECTION_REFUSED}" not in lines]


def report_of(shell: Shell, target: Target) -> NodeReport:
    """Return the node's report; raise ShellError if it is incomplete."""
    output = shell.run(target, script())
    frames = [(kind, name, int(status), _decoded(text)) for kind, name, status, text in _FRAME.findall(output.text)]
    commands = {
        name: text + (f"[exit status {status}]\n" if status else "") for kind, name, status, text in frames if kind == "command"
    }
    if missing := COMMANDS.keys() - commands.keys():
        raise ShellError(f"{target}: no output of {', '.join(sorted(missing))}; the node printed: {output.text[-500:]}")
    return NodeReport({name: text for kind, name, _, text in frames if kind == "file"}, commands)


def script() -> str:
    """Return the script that prints the report, encoded so that a terminal changes nothing."""
    frame = 'frame() { printf "@@ %s %s %s\\n" "$1" "$2" "$3"; base64 -w 76; echo "@@ end"; }\n'
    files = f'for path in {" ".join(FILES)}; do [ -f "$path" ] && frame file "$path" 0 < "$path"; done\n'
    commands = "".join(f'text=$({{ {line}; }} 2>&1); frame command {name} $? <<< "$text"\n' for name, line in COMMANDS.items())
    return f"{PATH}{frame}{files}{commands}exit 0\n"


def in_slurm(*words: str) -> str:
    """Return a script that runs one of Slurm's commands."""
    return f"{PATH}{shlex.join(words)}\n"


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode(errors="replace")
