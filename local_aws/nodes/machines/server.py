"""The server on the hub's socket, with a thread per request."""

import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from local_aws.builds import relay
from local_aws.builds.errors import HostError
from local_aws.nodes import protocol
from local_aws.nodes.machines import commands, dns, imds
from local_aws.nodes.machines.node import HubResources, Node
from local_aws.nodes.machines.priority_semaphore import PrioritySemaphore
from local_aws.nodes.protocol import Json
from local_aws.nodes.specs import NodeSpec

_PARALLEL_BOOTS = 2 * (os.cpu_count() or 1)  # more at once are slower in total
_Reply = Callable[[Json], None]


class Server:
    """The nodes of a hub and their operations: ``run``, and the methods whose names begin with ``op_``."""

    def __init__(self, hub: HubResources, metadata: imds.Metadata, names: dns.Names) -> None:
        self._hub, self._metadata, self._names = hub, metadata, names
        self._nodes: dict[str, Node] = {}
        self._lock = threading.Condition()
        self._boots = PrioritySemaphore(_PARALLEL_BOOTS)

    def serve(self, folder: Path) -> None:
        """Listen in ``folder`` for ever."""
        listener = socket.socket(socket.AF_UNIX)
        (folder / protocol.SOCKET).unlink(missing_ok=True)
        with relay.socket_path(folder, protocol.SOCKET) as path:
            listener.bind(path)
        listener.listen(256)
        print(protocol.READY, flush=True)  # noqa: T201  read by the process that started the hub
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=self._serve_one, args=(peer,), daemon=True).start()

    def op_boot(self, spec: Json) -> None:
        """Boot a node."""
        files = spec.pop("files")
        node = self._add(NodeSpec(**spec | {"binds": tuple(spec["binds"])}))  # type: ignore[arg-type]  # created by protocol.spec_to_json
        try:
            with self._boots.acquire(node.spec.rank):
                node.boot(files)  # type: ignore[arg-type]  # as above
        except Exception:
            self._stop(node)
            raise

    def op_name(self, node_id: str) -> None:
        """Make a node's host name resolve."""
        self._names.unknown.discard(self._node(node_id).spec.address)

    def op_names_of_pods(self, names: dict[str, str]) -> None:
        """Replace the names of services and pods."""
        self._names.of_pods = names

    def op_put(self, node_id: str, files: Json) -> None:
        """Write files to a node."""
        self._node(node_id).put(files)

    def run(self, reply: _Reply, node_id: str, command: Json) -> int:
        """Run a command on a node; send its output before the response."""
        parsed = commands.Command(**command)  # type: ignore[arg-type]  # its own fields, sent by Hub.run
        return commands.run(self._node(node_id), parsed, lambda line: reply({"line": line}))

    def op_reboot(self, node_id: str) -> None:
        """Reboot a node."""
        self._node(node_id).reboot()

    def op_stop(self, node_id: str) -> None:
        """Stop a node, if it exists."""
        with self._lock:
            node = self._nodes.get(node_id)
        if node:
            self._stop(node)

    def op_entrance(self, node_id: str) -> list[str]:
        """Return the start of a command line that enters a node from the hub's namespaces."""
        return self._node(node_id).entrance()

    def op_states(self) -> dict[str, str]:
        """Return every node's state."""
        with self._lock:
            return {node_id: node.state for node_id, node in self._nodes.items()}

    def _add(self, spec: NodeSpec) -> Node:
        node = Node(spec, self._hub)
        with self._lock:
            while other := self._rival(spec):
                if not other.is_going:
                    raise HostError(f"node {other.spec.id} at {other.spec.address} already exists, so {spec.id} cannot boot")
                self._lock.wait()
            self._nodes[spec.id] = node
            self._metadata.put(spec.address, spec.metadata)
            if not spec.has_name:
                self._names.unknown.add(spec.address)
        return node

    def _rival(self, spec: NodeSpec) -> Node | None:
        """Return the node with the id or the address of ``spec``."""
        same = (other for other in self._nodes.values() if spec.id == other.spec.id or spec.address == other.spec.address)
        return next(same, None)

    def _stop(self, node: Node) -> None:
        node.stop()
        with self._lock:
            if self._nodes.get(node.spec.id) is node:
                del self._nodes[node.spec.id]
                self._metadata.drop(node.spec.address)
                self._names.unknown.discard(node.spec.address)
                self._lock.notify_all()

    def _node(self, node_id: str) -> Node:
        with self._lock:
            if node_id not in self._nodes:
                raise HostError(f"unknown node {node_id}; available: {sorted(self._nodes)}")
            return self._nodes[node_id]

    def _serve_one(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rw", encoding="utf-8") as stream:
            line = stream.readline()
            if line:
                self._answer(stream, line)

    def _answer(self, stream: IO[str], line: str) -> None:
        def reply(message: Json) -> None:
            protocol.send(stream, message)

        operation, *arguments = json.loads(line)
        try:
            if operation == "run":
                reply({"ok": self.run(reply, *arguments)})
            else:
                reply({"ok": getattr(self, f"op_{operation}")(*arguments)})
        except BrokenPipeError:
            return  # the caller is gone
        except (HostError, OSError) as error:
            reply({"error": str(error)})
