"""Our scripts run once more on a node that is up, as HyperPod runs them, while a test looks on."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local_aws.nodes import client, protocol
from local_aws.nodes.agent import bundle as agent
from local_aws.nodes.agent.files import RESOURCE_CONFIG
from tests.nodes.bundle import Bundle
from tests.nodes.cluster.running import Running

FOLDER = "/tmp/sagemaker-lifecycle-again/src"
ENTRY = "on_create.sh"
WITHIN_S = 60.0
AT_ONCE = {"hyperpod_node/retry.py": ("    log_after_s: float = 5", "    log_after_s: float = 0")}  # whoever waits says so
PATH = "/opt/slurm/bin:/opt/slurm/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
# What a script says of its time is all that may differ between two runs.
TIMES = r": \d+\.\d s$|in \d+\.\d s$"


@dataclass
class Provisioning:
    """One run of a bundle on a node. Begin it, look at what it says, await its end."""

    cluster: Running
    node: str
    bundle: Bundle
    resource_config: str = RESOURCE_CONFIG
    hurry: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # file -> a line of it, and what it reads instead
    lines: list[str] = field(default_factory=list)
    _status: int | None = None
    _news: threading.Condition = field(default_factory=threading.Condition)

    def begin(self) -> "Provisioning":
        """Lay the scripts on the node and start them."""
        files = agent.on_node(self._files(), FOLDER, ENTRY)
        self._ask("put", protocol.files_to_json(files))
        threading.Thread(target=self._run, name=f"again-{self.node}", daemon=True).start()
        return self

    def said(self, text: str) -> str:
        """The first line with ``text`` in it, as soon as there is one."""
        with self._news:
            self._news.wait_for(lambda: self._status is not None or self._line(text), WITHIN_S)
            line = self._line(text)
        assert line, f"it has not said {text!r} but {self.lines}"
        return line

    def ended(self) -> int:
        """The exit status."""
        with self._news:
            self._news.wait_for(lambda: self._status is not None, WITHIN_S)
        assert self._status is not None, f"it runs on and has said {self.lines}"
        return self._status

    def succeeded(self) -> list[str]:
        """What it has said when it has ended well."""
        assert self.ended() == 0, self.lines
        return self.lines

    def failed(self) -> str:
        """The last line of a run that has failed: all that an operator sees of it at first."""
        assert self.ended() != 0, self.lines
        return self.lines[-1]

    def _line(self, text: str) -> str | None:
        return next((line for line in self.lines if text in line), None)

    def _files(self) -> dict[str, bytes]:
        files = self.bundle.files()
        for name, (line, instead) in self.hurry.items():
            assert files[name].count(f"\n{line}\n".encode()) == 1, f"{name} has not one line {line!r}"
            files[name] = files[name].replace(f"\n{line}\n".encode(), f"\n{instead}\n".encode())
        return files

    def _run(self) -> None:
        environment = {"SAGEMAKER_RESOURCE_CONFIG_PATH": self.resource_config, "PATH": PATH}
        command = {
            "argv": [f"{FOLDER}/{ENTRY}"],
            "environment": environment,
            "folder": FOLDER,
            "unit": None,
            "timeout_s": WITHIN_S,
            "mounts": "slave",
        }
        status = -1
        try:
            answer = self._ask("run", command)
            assert isinstance(answer, int)
            status = answer
        finally:
            with self._news:
                self._status = status
                self._news.notify_all()

    def _hear(self, line: str) -> None:
        with self._news:
            self.lines.append(line)
            self._news.notify_all()

    def _ask(self, operation: str, argument: object) -> object:
        machine = self.cluster.machine(self.node)
        return client.ask(Path(machine["folder"]), operation, machine["id"], argument, on_line=self._hear)
