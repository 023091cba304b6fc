"""Runs in a pod of a simulated node, as `device_plugin.py RESOURCE`: offer devices of a resource that do not exist.

It takes the place of the real device plugin. The number of devices is in a file that the node writes. A pod that gets devices
finds their names in SIMULATED_DEVICES. The messages of the API v1beta1 are few, so they are encoded here.
"""

import json
import sys
import time
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

FOLDER = Path("/var/lib/kubelet/device-plugins")
COUNTS = "simulated-devices.json"
_PAUSE_S = 0.5


def field(number: int, value: bytes) -> bytes:
    """Return a length-delimited field of a message."""
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the length-delimited fields of a message whose other fields are numbers."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        size, at = _read_varint(message, at)  # or the number
        if not key & 7:
            continue
        yield key >> 3, message[at : at + size]
        at += size


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            return value, at


def devices(name: str, count: int) -> bytes:
    """Return the message with all devices, healthy."""
    ids = (f"{name}-{number}".encode() for number in range(count))
    return b"".join(field(1, field(1, each) + field(2, b"Healthy")) for each in ids)


def allocation(request: bytes) -> bytes:
    """Return the response to a request for devices: an environment variable with their names, for each container."""
    answer = b""
    for _, container in fields(request):
        ids = b",".join(value for number, value in fields(container) if number == 1)
        answer += field(1, field(1, field(1, b"SIMULATED_DEVICES") + field(2, ids)))
    return answer


def main(resource: str) -> None:
    """Serve for ever; register again after a restart of the kubelet, which empties the folder."""
    name = resource.replace("/", "-")
    socket = FOLDER / f"simulated-{name}.sock"
    while True:
        while not (FOLDER / COUNTS).exists():
            time.sleep(_PAUSE_S)
        count = json.loads((FOLDER / COUNTS).read_text()).get(resource, 0)
        server = _serve(socket, devices(name, count))
        _register(socket, resource)
        print(f"{resource}: {count} simulated devices", flush=True)  # noqa: T201  the pod's log
        while socket.exists():
            time.sleep(_PAUSE_S)
        server.stop(None)


def _serve(socket: Path, listed: bytes) -> Any:
    import grpc  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415  only the node image has it

    def watch(_: bytes, context: Any) -> Iterator[bytes]:
        yield listed
        while context.is_active():
            time.sleep(_PAUSE_S)

    def nothing(*_: object) -> bytes:
        return b""

    unary = {"Allocate": lambda request, _: allocation(request)}
    unary |= dict.fromkeys(("GetDevicePluginOptions", "PreStartContainer", "GetPreferredAllocation"), nothing)
    handlers = {name: grpc.unary_unary_rpc_method_handler(call) for name, call in unary.items()}
    handlers["ListAndWatch"] = grpc.unary_stream_rpc_method_handler(watch)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v1beta1.DevicePlugin", handlers),))
    socket.unlink(missing_ok=True)
    server.add_insecure_port(f"unix://{socket}")
    server.start()
    return server


def _register(socket: Path, resource: str) -> None:
    import grpc  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415  only the node image has it

    with grpc.insecure_channel(f"unix://{FOLDER}/kubelet.sock") as channel:
        message = field(1, b"v1beta1") + field(2, socket.name.encode()) + field(3, resource.encode())
        channel.unary_unary("/v1beta1.Registration/Register")(message, wait_for_ready=True)


if __name__ == "__main__":
    main(sys.argv[1])
