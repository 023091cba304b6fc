"""Delayed state changes of file systems and associations."""

from collections.abc import Callable

from local_aws import faults, network_interfaces
from local_aws.durations import duration
from local_aws.fsx.model import Association, FileSystem, exists, lock, remove
from local_aws.json_service import Call
from local_aws.schedule import schedule


def later(name: str, thing: FileSystem | Association, action: Callable[[], None]) -> None:
    """Schedule ``action``, unless ``thing`` is gone or in another state by then."""
    state = thing.lifecycle

    def act() -> None:
        with lock:
            if exists(thing) and thing.lifecycle == state:
                action()

    schedule.after(duration(name), act)


def become_available(name: str, thing: FileSystem | Association, call: Call) -> None:
    """Schedule ``thing`` to become AVAILABLE, or FAILED if a fault was injected into the call."""
    fault = faults.take(f"fsx:{call.operation}", "fail")

    def act() -> None:
        thing.lifecycle = "FAILED" if fault else "AVAILABLE"
        thing.failure = fault.message if fault else ""

    later(name, thing, act)


def delete(name: str, thing: FileSystem | Association) -> None:
    """Schedule ``thing`` to be deleted, with a file system's interfaces."""
    thing.lifecycle = "DELETING"

    def act() -> None:
        if isinstance(thing, FileSystem):
            network_interfaces.delete(thing.account, thing.region, thing.interfaces)
        remove(thing)

    later(name, thing, act)
