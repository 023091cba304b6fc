"""Nodes' log streams in CloudWatch Logs, written with the execution role's rights; without them nothing is written."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from local_aws.hyperpod.model import Cluster, Node
from local_aws.hyperpod.roles import ExecutionRole

_lock = threading.Lock()  # moto's logs do not support concurrent writers


@dataclass(frozen=True)
class NodeLog:
    """The log stream of one node's lifecycle script."""

    cluster: Cluster
    node: Node

    @property
    def stream(self) -> str:
        """Return the stream's name."""
        return f"LifecycleConfig/{self.node.group}/{self.node.id}"

    @property
    def place(self) -> str:
        """Return the location of the log, as text."""
        return f"log stream {self.stream} in log group {self.cluster.log_group}"

    def write(self, lines: list[str]) -> None:
        """Append ``lines``; as on AWS, drop them silently if the role may not write."""
        now = int(datetime.now(UTC).timestamp() * 1000)
        with _lock:
            if not self._may_write():
                return
            group = self._group()
            if self.stream not in group.streams:
                group.create_log_stream(self.stream)
            group.put_log_events(self.stream, [{"timestamp": now, "message": line} for line in lines])

    def _may_write(self) -> bool:
        role = ExecutionRole.of(self.cluster, self.node.spec)
        cluster = self.cluster
        group = f"arn:{cluster.partition}:logs:{cluster.region}:{cluster.account}:log-group:{cluster.log_group}"
        stream = f"{group}:log-stream:{self.stream}"
        exists = cluster.log_group in self._backend().groups
        needed = [("logs:CreateLogStream", stream), ("logs:PutLogEvents", stream)]
        if not exists:
            needed.insert(0, ("logs:CreateLogGroup", group))
        return all(role.may(action, resource) for action, resource in needed)

    def _group(self) -> Any:
        backend = self._backend()
        if self.cluster.log_group not in backend.groups:
            backend.create_log_group(self.cluster.log_group, {})
        return backend.groups[self.cluster.log_group]

    def _backend(self) -> Any:
        from moto.logs.models import logs_backends  # noqa: PLC0415  moto is loaded once the environment is set

        return logs_backends[self.cluster.account][self.cluster.region]
