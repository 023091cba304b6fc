"""Compare a desired item with the observed one."""

from collections.abc import Iterator

from cluster_resource.event import Json

COMPARED = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "SchedulerConfig")
"""All members except the description, which ListComputeQuotas does not show."""


def differs(settings: Json, observed: Json) -> bool:
    """Return whether the observed item lacks a desired value; HyperPod adds defaults, and may change the order of lists."""
    return next(differences(settings, observed), None) is not None


def differences(settings: Json, observed: Json) -> Iterator[tuple[str, object, object]]:
    """Yield each desired value that the observed item lacks: its members joined by dots, the desired and the observed value."""
    for name in COMPARED:
        if name in settings:
            yield from _different(name, settings[name], observed.get(name))


def _different(name: str, desired: object, observed: object) -> Iterator[tuple[str, object, object]]:
    if isinstance(desired, dict) and desired:
        found = observed if isinstance(observed, dict) else {}
        for member, value in desired.items():
            yield from _different(f"{name}.{member}", value, found.get(member))
    elif not _covers(observed, desired):
        yield name, desired, observed


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
