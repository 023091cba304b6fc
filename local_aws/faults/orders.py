"""The faults that were ordered and have not happened yet."""

import threading
from dataclasses import replace

from local_aws.faults.calls import require_operation
from local_aws.faults.fault import Fault

_lock = threading.Lock()
_ordered: list[Fault] = []


def order(fault: Fault) -> None:
    """Let ``fault`` happen to the next ``fault.times`` calls that it matches."""
    require_operation(fault.operation)
    with _lock:
        _ordered.append(fault)


def ordered() -> list[Fault]:
    """What has not happened yet, in the order in which it was ordered."""
    with _lock:
        return list(_ordered)


def take(operation: str, *kinds: str, caller: str = "", target: str = "", at: str = "") -> Fault | None:
    """The fault that was ordered for this call, used up by being taken; a call that a fault lets pass counts for it."""
    with _lock:
        for index, fault in enumerate(_ordered):
            if (fault.operation, fault.kind in kinds) != (operation, True) or fault.at != (at or fault.at):
                continue
            if fault.caller not in caller or fault.target not in target:
                continue
            if fault.after:
                _ordered[index] = replace(fault, after=fault.after - 1)
                continue
            _ordered[index : index + 1] = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
            return fault
    return None


def reset() -> None:
    """Forget all faults that were ordered."""
    with _lock:
        _ordered.clear()
