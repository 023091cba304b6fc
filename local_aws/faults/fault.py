"""A fault to inject."""

from dataclasses import dataclass

# The fault kinds of operations that are not API calls.
OWN_OPERATIONS = {
    "cloudformation:Answer": ("refuse", "delay", "lose", "repeat"),  # the PUT of a custom resource's response
    "events:Deliver": ("lose",),  # an event for a rule's function
    "hyperpod:DeepHealthCheck": ("fail",),  # the check of a node at its start; the target is GROUP/INSTANCE
    "lambda:Run": ("kill",),  # a function's process
    "states:Run": ("abort", "fail", "time_out"),  # an execution that enters a state or retries a task
}
CALL_KINDS = ("refuse", "fail", "delay", "lose", "repeat", "kill")
# Only these services support the kind `fail`, a failure after the response.
FAILING_LATER = ("sagemaker", "fsx", "eks")
MOMENTS = ("before", "after")


@dataclass(frozen=True)
class Fault:
    """A fault of the next ``times`` calls of ``operation``, after ``after`` successful ones.

    ``caller`` is a part of the calling role's ARN, ``target`` a part of the call's resource; empty, they match every call.
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
            raise ValueError(f"kind of {self.operation} must be one of {kinds}, got {self.kind!r}")
        if self.at not in MOMENTS:
            raise ValueError(f"at must be one of {MOMENTS} for a kill, got {self.at!r}")
        if self.times < 1 or self.after < 0 or self.delay_s < 0:
            raise ValueError(
                f"times must be at least 1, after and delay_s at least 0, got {self.times}, {self.after}, {self.delay_s}"
            )
        if self.kind == "refuse" and not 400 <= self.status <= 599:
            raise ValueError(f"status must be 400 to 599, got {self.status}")

    def _kinds(self) -> tuple[str, ...]:
        if self.operation in OWN_OPERATIONS:
            return OWN_OPERATIONS[self.operation]
        if self.operation.partition(":")[0] in FAILING_LATER:
            return CALL_KINDS
        return tuple(kind for kind in CALL_KINDS if kind != "fail")
