"""An execution environment: a process with a function's loaded code."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_END_OF_LOG = b"\x1e"
_INIT_S = 60.0  # AWS allows 10 s for loading the code; this machine may be slow
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Result:
    """The end of an invocation: with a payload, or (None) by the process's end or at the deadline."""

    payload: str | None
    failed: bool
    exit_status: int | None = None


@dataclass
class Worker:
    """A running process for one invocation at a time; between them it waits, while AWS would freeze it."""

    command: list[str]
    environment: dict[str, str]
    folder: Path
    log_stream: str
    _log: bytearray = field(default_factory=bytearray, init=False)
    _results: bytearray = field(default_factory=bytearray, init=False)

    def __post_init__(self) -> None:
        read, write = os.pipe()
        self._result_fd = read
        self._process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            env={**self.environment, "_RESULT_FD": str(write)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(write,),
            start_new_session=True,  # to end it with all its children
        )
        os.close(write)
        self._ready = False
        self._use, self._closed = threading.Lock(), False

    def invoke(self, request_id: str, arn: str, event: Any, timeout_s: float) -> Result:
        """Run the handler once; end the process unless this returns a payload."""
        with self._use:
            return self._invoke(request_id, arn, event, timeout_s)

    def _invoke(self, request_id: str, arn: str, event: Any, timeout_s: float) -> Result:
        if not self._ready:
            loaded = self._answer(time.monotonic() + _INIT_S)
            if loaded.payload is None:
                return loaded
            self._ready = True
        call = {"id": request_id, "arn": arn, "event": event, "deadline": time.time() + timeout_s}
        assert self._process.stdin is not None  # noqa: S101  for the type checker: it is a pipe
        try:
            self._process.stdin.write(json.dumps(call).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        return self._answer(time.monotonic() + timeout_s)

    def take_log(self) -> str:
        """Return the function's output since the last call."""
        text = bytes(self._log).replace(_END_OF_LOG, b"").decode(errors="replace")
        self._log.clear()
        return text

    def kill(self) -> None:
        """Kill the process with its children; a running invocation sees its end."""
        if not self._closed:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process and release its resources; safe to repeat."""
        self.kill()
        with self._use:
            if not self._closed:
                self._close()

    def _close(self) -> None:
        self._closed = True
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(BrokenPipeError):  # an event that was never read
                    pipe.close()
        os.close(self._result_fd)

    @property
    def alive(self) -> bool:
        """Return whether the process is still running and can take another invocation."""
        return self._process.poll() is None

    def _answer(self, deadline: float) -> Result:
        """Read the result and the log until both are complete, the process ends, or the deadline passes."""
        assert self._process.stdout is not None  # noqa: S101  for the type checker: it is a pipe
        log_fd = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(self._result_fd, selectors.EVENT_READ, self._results)
            selector.register(log_fd, selectors.EVENT_READ, self._log)
            while not (b"\n" in self._results and _END_OF_LOG in self._log):
                left = deadline - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready:
                    return Result(None, failed=True)
                for key, _ in ready:
                    chunk = os.read(key.fd, _CHUNK)
                    key.data.extend(chunk)
                    if not chunk:
                        selector.unregister(key.fd)
                if not selector.get_map():
                    return self._ended()
        line, _, rest = bytes(self._results).partition(b"\n")
        self._results[:] = rest
        answer = json.loads(line)
        return Result(answer.get("payload", ""), failed=answer.get("failed", False))

    def _ended(self) -> Result:
        return Result(None, failed=True, exit_status=self._process.wait())
