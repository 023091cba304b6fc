"""What happens to file systems and associations after a while."""

from collections.abc import Callable

from local_aws import faults, network_interfaces
from local_aws.durations import duration
from local_aws.fsx.model import Association, FileSystem, exists, lock, remove
from local_aws.json_service import Call
from local_aws.schedule import schedule


def later(name: str, thing: FileSystem | Association, action: Callable[[], None]) -> None:
    """Do ``action`` after a while if ``thing`` is then still there and in the same state."""
    state = thing.lifecycle

    def act() -> None:
        with lock:
            if exists(thing) and thing.lifecycle == state:
                action()

    schedule.after(duration(name), act)


def become_available(name: str, thing: FileSystem | Association, call: Call) -> None:
    """Let ``thing`` be AVAILABLE after a while, or FAILED if a fault was ordered for the call."""
    fault = faults.take(f"fsx:{call.operation}", "fail")

    def act() -> None:
        thing.lifecycle = "FAILED" if fault else "AVAILABLE"
        thing.failure = fault.message if fault else ""

    later(name, thing, act)


def delete(name: str, thing: FileSystem | Association) -> None:
    """Let ``thing`` be gone after a while, and a file system's interfaces with it."""
    thing.lifecycle = "DELETING"

    def act() -> None:
        if isinstance(thing, FileSystem):
            network_interfaces.delete(thing.account, thing.region, thing.interfaces)
        remove(thing)

    later(name, thing, act)
