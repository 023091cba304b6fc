"""One fault that was ordered."""

from dataclasses import dataclass

# What an operation that is no call of an API can suffer.
OWN_OPERATIONS = {
    "cloudformation:Answer": ("refuse", "delay", "lose", "repeat"),  # the PUT of a custom resource's answer
    "events:Deliver": ("lose",),  # an event on its way to a rule's function
    "lambda:Run": ("kill",),  # a function's process
    "states:Run": ("abort", "fail", "time_out"),  # an execution that enters a state or tries a task again
}
CALL_KINDS = ("refuse", "fail", "delay", "lose", "repeat", "kill")
# Only these services know what fails later.
FAILING_LATER = ("sagemaker", "fsx")
MOMENTS = ("before", "after")


@dataclass(frozen=True)
class Fault:
    """What goes wrong with the next ``times`` calls of ``operation``, after ``after`` calls that go well.

    ``caller`` is a part of the ARN of the calling role, ``target`` of what the call is about; empty, they match every call.
    """

    operation: str
    kind: str = "refuse"
    code: str = "InternalFailure"
    message: str = "fault injected"
    status: int = 400
    times: int = 1
    after: int = 0
    delay_s: float = 0
    at: str = "after"
    caller: str = ""
    target: str = ""

    def __post_init__(self) -> None:
        kinds = self._kinds()
        if self.kind not in kinds:
            raise ValueError(f"the kind of a fault of {self.operation} must be one of {kinds}, got {self.kind!r}")
        if self.at not in MOMENTS:
            raise ValueError(f"a kill is at one of {MOMENTS}, got {self.at!r}")
        if self.times < 1 or self.after < 0 or self.delay_s < 0:
            raise ValueError(
                f"times must be at least 1, after and delay_s at least 0, got {self.times}, {self.after}, {self.delay_s}"
            )
        if self.kind == "refuse" and not 400 <= self.status <= 599:
            raise ValueError(f"a refusal's status is from 400 to 599, got {self.status}")

    def _kinds(self) -> tuple[str, ...]:
        if self.operation in OWN_OPERATIONS:
            return OWN_OPERATIONS[self.operation]
        if self.operation.partition(":")[0] in FAILING_LATER:
            return CALL_KINDS
        return tuple(kind for kind in CALL_KINDS if kind != "fail")
