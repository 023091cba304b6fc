"""`python -m local_aws.kubernetes.guardian FOLDER`: run programs until the owner ends, then kill them and remove the folder.

Standard input is a pipe from the owner, the embedded AWS: each line is a program to start, as JSON [NAME, ARGUMENT, ...]. When
the pipe closes, however the owner ended, everything ends. If the guardian itself is killed, the kernel kills the programs.
"""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
from pathlib import Path

_CHUNK = 1 << 16


def log_of(folder: Path, name: str) -> Path:
    """Return the log of a program."""
    return folder / "log" / f"{name}.log"


def ended_file(folder: Path) -> Path:
    """Return the file in which the guardian notes the first program that ended: name and status."""
    return folder / "ended"


class Guardian:
    """The programs that run in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._selector = selectors.DefaultSelector()
        self._buffer = b""

    def run(self) -> None:
        """Start what the owner asks for, until its pipe closes or a signal arrives."""
        stop = os.eventfd(0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: os.eventfd_write(stop, 1))
        self._selector.register(stop, selectors.EVENT_READ, "stop")
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ, "owner")
        try:
            while self._serve():
                pass
        finally:
            self._end()

    def _serve(self) -> bool:
        for key, _ in self._selector.select():
            if key.data == "stop":
                return False
            if key.data == "owner":
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    return False
                *lines, self._buffer = (self._buffer + chunk).split(b"\n")
                for line in lines:
                    name, *command = json.loads(line)
                    self._start(name, command)
            else:
                self._note_end(key.data)
                self._selector.unregister(key.fd)
                os.close(key.fd)
        return True

    def _start(self, name: str, command: list[str]) -> None:
        with log_of(self._folder, name).open("ab") as log:
            try:
                program = subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            except OSError as error:
                log.write(f"{error}\n".encode())
                self._note(f"{name} could not start")
                return
        self._programs[name] = program
        self._selector.register(os.pidfd_open(program.pid), selectors.EVENT_READ, name)

    def _note_end(self, name: str) -> None:
        self._note(f"{name} ended with status {self._programs[name].wait()}")

    def _note(self, text: str) -> None:
        file = ended_file(self._folder)
        if not file.exists():
            new = file.with_suffix(".new")
            new.write_text(text)
            new.rename(file)

    def _end(self) -> None:
        """Kill the programs: their data goes too, so nothing has to be written."""
        for program in self._programs.values():
            program.kill()
        for program in self._programs.values():
            program.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


if __name__ == "__main__":
    Guardian(Path(sys.argv[1])).run()
