"""Instances that AWS has to launch, by instance type; unlimited until `/_local_aws/capacity` sets them."""

from local_aws import control
from local_aws.hyperpod.model import nodes_by_type

_limits: dict[str, int] = {}


def install() -> None:
    """Register the control path: an object of instance types and counts; DELETE removes all limits."""
    control.route("capacity", _handle)


def limit(counts: dict[str, int]) -> dict[str, int]:
    """Set the capacity for types such as ``{"ml.trn1.32xlarge": 4}``, running nodes included, and return all limits."""
    for type_name, count in counts.items():
        if not type_name.startswith("ml."):
            raise ValueError(f"the instance type must start with 'ml.', got {type_name!r}")
        if int(count) < 0:
            raise ValueError(f"the capacity of {type_name} must be at least 0, got {count}")
        _limits[type_name] = int(count)
    return dict(_limits)


def room(account: str, region: str, type_name: str, count: int) -> int:
    """Return how many of ``count`` more instances of a type AWS can launch."""
    if type_name not in _limits:
        return count
    used = sum(1 for _ in nodes_by_type(account, region, type_name))
    return max(0, min(count, _limits[type_name] - used))


def message(type_name: str) -> str:
    """Return HyperPod's error for a type without capacity."""
    return f"We currently do not have sufficient capacity to launch new {type_name} instances. Please try again."


def reset() -> None:
    """Remove all limits."""
    _limits.clear()


def _handle(request: control.Request) -> dict[str, int]:
    if request.method == "DELETE":
        reset()
    return limit(request.json() or {})
