"""Facts of Step Functions: executions, their history, and the definitions of state machines."""

from typing import Any

from tests.contract.aws_facts.fact import fact, refusal

ALL = ("engine", "fake_states", "soak")


@fact(
    "sfn-name-other-input",
    says="the name of an execution that runs cannot start another input",
    source="AWS Step Functions API reference: StartExecution",
    date="documented",
    expected="ExecutionAlreadyExists",
    judges=ALL,
)
def other_input(judge: Any) -> str:
    steps = judge.steps({"Wait": {"Type": "Wait", "Seconds": 600, "End": True}})
    steps.start("name", {"value": 1})
    return refusal(lambda: steps.start("name", {"value": 2}))
