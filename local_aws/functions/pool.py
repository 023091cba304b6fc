"""The processes of all functions: warm between invocations, several per function if invocations overlap."""

import threading
from collections import Counter
from typing import Any

from local_aws.functions import environment
from local_aws.functions.worker import Worker

_KEPT = 8  # maximum of idle processes: each takes 20 to 60 MB


class Pool:
    """Processes by their function's ARN; they end when the function is changed or deleted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[str, Worker]] = []
        self._workers: dict[int, Worker] = {}
        self._changes: Counter[str] = Counter()

    def take(self, function: Any, endpoint: str) -> tuple[Worker, int]:
        """Return an idle or new process of the function, with the count of changes to pass to `give_back`."""
        arn = function.function_arn
        with self._lock:
            changes = self._changes[arn]
            mine = [entry for entry in self._idle if entry[0] == arn]
            for entry in mine:
                self._idle.remove(entry)
                if entry[1].alive:
                    return entry[1], changes
                entry[1].end()
        worker = environment.start(function, endpoint)
        with self._lock:
            self._workers[id(worker)] = worker
        return worker, changes

    def give_back(self, function: Any, worker: Worker, changes: int) -> None:
        """Keep the process for the next invocation, unless the function has changed since."""
        arn = function.function_arn
        with self._lock:
            if self._changes[arn] == changes and id(worker) in self._workers:
                self._idle.append((arn, worker))
                surplus = [entry for _, entry in self._idle[:-_KEPT]]
                del self._idle[:-_KEPT]
            else:
                surplus = [worker]
        for each in surplus:
            self.end(each)

    def end(self, worker: Worker) -> None:
        """End a process."""
        with self._lock:
            self._workers.pop(id(worker), None)
        worker.end()

    def end_by_key(self, access_key: str) -> None:
        """End the process that uses an access key, even during an invocation."""
        with self._lock:
            found = [worker for worker in self._workers.values() if worker.environment["AWS_ACCESS_KEY_ID"] == access_key]
        for worker in found:
            self.end(worker)

    def changed(self, arn: str) -> None:
        """End the function's idle processes; busy ones end after their invocation."""
        with self._lock:
            self._changes[arn] += 1
            ended = [worker for name, worker in self._idle if name == arn]
            self._idle = [entry for entry in self._idle if entry[0] != arn]
        for worker in ended:
            self.end(worker)

    def end_all(self) -> None:
        """End every process, busy or not."""
        with self._lock:
            workers = list(self._workers.values())
            self._workers.clear()
            self._idle.clear()
        for worker in workers:
            worker.end()
