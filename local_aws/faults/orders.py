"""The pending faults."""

import threading
from dataclasses import replace

from local_aws.faults.calls import require_operation
from local_aws.faults.fault import Fault

_lock = threading.Lock()
_ordered: list[Fault] = []


def order(fault: Fault) -> None:
    """Inject ``fault`` into the next ``fault.times`` matching calls."""
    require_operation(fault.operation)
    with _lock:
        _ordered.append(fault)


def ordered() -> list[Fault]:
    """Return the pending faults, oldest first."""
    with _lock:
        return list(_ordered)


def take(operation: str, *kinds: str, caller: str = "", target: str = "", at: str = "") -> Fault | None:
    """Consume and return the pending fault for this call, or None; calls that a fault lets succeed count down its ``after``."""
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
    """Remove all faults."""
    with _lock:
        _ordered.clear()
