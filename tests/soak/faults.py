"""The faults of a schedule, each waiting for its call."""

from dataclasses import dataclass

KINDS = ("die", "die_after", "late", "lose", "retry", "refuse", "pause", "pause_after")
ANY = "*"


@dataclass
class Fault:
    """A fault of one call: the first of ``function`` and ``call`` after ``skip`` others."""

    function: str
    call: str
    kind: str
    skip: int = 0
    seconds: float = 0
    code: str = "ThrottlingException"
    status: int = 400

    def takes(self, function: str, call: str) -> bool:
        """Return whether it applies to the call."""
        return self.function == function and self.call in (ANY, call)


class Faults:
    """The faults that have not happened yet."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self.happened: list[Fault] = []
        self.calls = 0
        self.crashes = 0

    def order(self, fault: Fault) -> None:
        """Add a fault."""
        self._waiting.append(fault)

    def forgive(self) -> None:
        """Remove all faults."""
        self._waiting.clear()

    def at(self, function: str, call: str) -> Fault | None:
        """Return the fault of this call."""
        self.calls += call != "Return"
        for fault in self._waiting:
            if not fault.takes(function, call):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            self._waiting.remove(fault)
            self.happened.append(fault)
            return fault
        return None
