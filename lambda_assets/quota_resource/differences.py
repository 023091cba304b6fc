"""Compare a desired item with the observed one. Runs in Lambda."""

from cluster_resource.event import Json

COMPARED = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "SchedulerConfig")
"""All members except the description, which ListComputeQuotas does not show."""


def differs(settings: Json, observed: Json) -> bool:
    """Return whether the observed item lacks a desired value; HyperPod adds defaults, and may change the order of lists."""
    return not all(_covers(observed.get(name), settings[name]) for name in COMPARED if name in settings)


def _covers(observed: object, desired: object) -> bool:
    """Return whether the observed value has all of the desired one."""
    if isinstance(desired, dict):
        found = observed if isinstance(observed, dict) else {}
        return all(_covers(found.get(name), value) for name, value in desired.items())
    if isinstance(desired, list):
        items = list(observed) if isinstance(observed, list) else []
        return len(items) == len(desired) and all(any(_covers(item, value) for item in items) for value in desired)
    if desired in (0, "") and observed is None:
        return True
    return observed == desired
