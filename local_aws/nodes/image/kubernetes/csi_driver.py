"""Runs beside the kubelet of a simulated node: the node's part of the FSx CSI driver, which mounts file systems into pods.

It takes the place of the real driver, and mounts with the node's own client of Lustre. It answers CSI 1's calls with only the
fields that the kubelet needs.
"""

import subprocess
import sys
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # on a node, the two files lie in one folder
    from device_plugin import field, fields  # type: ignore[import-not-found,unused-ignore]
else:
    from local_aws.nodes.image.kubernetes.device_plugin import field, fields

NAME = b"fsx.csi.aws.com"
KUBELET = Path("/var/lib/kubelet")
Calls = dict[str, Callable[[bytes], bytes]]
_SOCKET = KUBELET / "plugins/fsx.csi.aws.com/csi.sock"
_REGISTRATION = KUBELET / "plugins_registry/fsx.csi.aws.com-reg.sock"
# Numbers of the fields of requests.
_TARGET_TO_UNPUBLISH, _TARGET, _CONTEXT = 2, 4, 8


class MountError(Exception):
    """A mount or its end failed; the text is the program's."""


def mount_command(request: bytes) -> list[str]:
    """Return the command that mounts the volume of a request to publish it."""
    found = dict(fields(request))
    pairs = (dict(fields(value)) for number, value in fields(request) if number == _CONTEXT)
    context = {pair[1]: pair[2].decode() for pair in pairs}
    return ["mount", "-t", "lustre", f"{context[b'dnsname']}@tcp:/{context[b'mountname']}", found[_TARGET].decode()]


def publish(request: bytes) -> bytes:
    """Mount a file system for a pod; twice is the same as once."""
    command = mount_command(request)
    target = Path(command[-1])
    target.mkdir(parents=True, exist_ok=True)
    if not target.is_mount():
        _run(command)
    return b""


def unpublish(request: bytes) -> bytes:
    """End a pod's mount."""
    target = Path(dict(fields(request))[_TARGET_TO_UNPUBLISH].decode())
    if target.is_mount():
        _run(["umount", str(target)])
    if target.exists():
        target.rmdir()
    return b""


def nothing(_: bytes) -> bytes:
    """Answer without fields."""
    return b""


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MountError(done.stderr.strip())


def main(node: str) -> None:
    """Serve for ever."""
    information = field(1, NAME) + field(2, b"simulated")
    plugin = field(1, b"CSIPlugin") + field(2, NAME) + field(3, str(_SOCKET).encode()) + field(4, b"1.0.0")
    _serve(
        {
            "pluginregistration.Registration": {"GetInfo": lambda _: plugin, "NotifyRegistrationStatus": nothing},
            "csi.v1.Identity": {"GetPluginInfo": lambda _: information, "GetPluginCapabilities": nothing, "Probe": nothing},
            "csi.v1.Node": {
                "NodeGetInfo": lambda _: field(1, node.encode()),
                "NodeGetCapabilities": nothing,
                "NodePublishVolume": publish,
                "NodeUnpublishVolume": unpublish,
            },
        }
    )


def _serve(services: dict[str, Calls]) -> None:
    import grpc  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415  only the node image has it

    def answering(call: Callable[[bytes], bytes]) -> Any:
        def answer(request: bytes, context: Any) -> bytes:
            try:
                return call(request)
            except (MountError, OSError) as error:
                context.abort(grpc.StatusCode.INTERNAL, str(error))
                raise

        return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(futures.ThreadPoolExecutor(4))
    for service, calls in services.items():
        handlers = {name: answering(call) for name, call in calls.items()}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    for socket in (_SOCKET, _REGISTRATION):  # the kubelet finds the second one
        socket.parent.mkdir(parents=True, exist_ok=True)
        socket.unlink(missing_ok=True)
        server.add_insecure_port(f"unix://{socket}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main(sys.argv[1])
