"""Instance quotas, by their names in Service Quotas; unlimited until `/_local_aws/quotas` sets them."""

from collections import Counter

from local_aws import control
from local_aws.errors import AwsError
from local_aws.hyperpod.model import nodes_by_type

_limits: dict[str, int] = {}


def install() -> None:
    """Register the control path: an object of quota names and values; DELETE removes all limits."""
    control.route("quotas", _handle)


def limit(quotas: dict[str, int]) -> dict[str, int]:
    """Set quotas such as ``{"ml.trn1.32xlarge for cluster usage": 0}`` and return all."""
    for name, value in quotas.items():
        if not name.endswith(" for cluster usage"):
            raise ValueError(f"the quota name must be '<instance type> for cluster usage', got {name!r}")
        _limits[name] = int(value)
    return dict(_limits)


def check(account: str, region: str, additional: Counter[str]) -> None:
    """Refuse ``additional`` instances of each type if they exceed the quota."""
    for type_name, more in additional.items():
        quota = f"{type_name} for cluster usage"
        used = sum(1 for _ in nodes_by_type(account, region, type_name))
        if more > 0 and used + more > _limits.get(quota, used + more):
            raise AwsError(
                "ResourceLimitExceeded",
                f"The account-level service limit '{quota}' is {_limits[quota]} Instances, with current utilization of "
                f"{used} Instances and a request delta of {more} Instances. Please use AWS Service Quotas to request an "
                "increase for this quota.",
            )


def reset() -> None:
    """Remove all limits."""
    _limits.clear()


def _handle(request: control.Request) -> dict[str, int]:
    if request.method == "DELETE":
        reset()
    return limit(request.json() or {})
