"""Let AWS's time pass at the host's pace while nodes follow a new pointer: their agents run in the host's time.

Otherwise a deployment would wait only seconds of the host for agents that look at the pointer once a minute.
"""

import json
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from local_aws.clock import clock
from local_aws.json_service import Json

HOLD_S = 150.0  # twice the longest interval of the agents
_LOOK_S = 0.2
_LAST = 20  # reports of a node; it sends at most a few between two looks
_POINTER = re.compile(r"/hyperpod-cdk/([^/]+)/bundle")
_Describe = Callable[[], list[dict[str, str]]]


@contextmanager
def while_nodes_follow(describe: _Describe) -> Iterator[None]:
    """Within the block, hold AWS's time after each write of a pointer until the nodes that it reaches have reported."""
    from moto.ssm.models import SimpleSystemManagerBackend  # noqa: PLC0415  moto is loaded once the environment is set

    original = SimpleSystemManagerBackend.put_parameter

    def put_parameter(self: Any, *arguments: Any, **named: Any) -> Any:
        made = original(self, *arguments, **named)
        pointer, found = _read(made.value), _POINTER.fullmatch(made.name)
        if found and pointer and isinstance(pointer.get("reach"), dict):
            place = (self.account_id, self.region_name, f"/hyperpod-cdk/{found[1]}/nodes")
            threading.Thread(target=_hold, args=(describe, place, pointer), name="follow", daemon=True).start()
        return made

    SimpleSystemManagerBackend.put_parameter = put_parameter
    try:
        yield
    finally:
        SimpleSystemManagerBackend.put_parameter = original


def _hold(describe: _Describe, place: tuple[str, str, str], pointer: Json) -> None:
    end = time.monotonic() + HOLD_S
    with clock.work():
        while time.monotonic() < end and any(_waits(node, place, pointer) for node in describe()):
            time.sleep(_LOOK_S)


def _waits(node: dict[str, str], place: tuple[str, str, str], pointer: Json) -> bool:
    """Return whether the pointer reaches a node with an agent that runs another bundle and has not reported since."""
    from moto.logs.models import logs_backends  # noqa: PLC0415  as above

    account, region, group = place
    found = logs_backends[account][region].groups.get(group)
    stream = found.streams.get(f"{node['group']}/{node['id']}") if found else None
    if stream is None or not _reaches(pointer, node):
        return False
    reports = [_read(event.message) or {} for event in stream.events[-_LAST:]]
    has_bundle = bool(reports) and reports[-1].get("sha256") == pointer["sha256"]
    return not has_bundle and not any(report.get("generation", 0) >= pointer["generation"] for report in reports)


def _reaches(pointer: Json, node: dict[str, str]) -> bool:
    if node["id"] in pointer["reach"].get("instances", ()):
        return True
    if node["role"] == "compute":
        return bool(zlib.crc32(node["id"].encode()) % 100 < pointer["reach"].get("compute_percent", 0))
    return node["role"] in pointer["reach"].get("roles", ())


def _read(text: str) -> Json | None:
    """Return a pointer or a report; None for other text."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "generation" in found else None
