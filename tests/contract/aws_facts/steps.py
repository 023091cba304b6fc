"""A state machine as a judge runs it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass
class Steps:
    """A state machine with some steps, as a judge runs it."""

    client: Any
    arn: str
    run: Callable[[str], None]
    """Let time pass until an execution has ended."""

    def start(self, name: str, event: Json | None = None) -> str:
        """Return the ARN of an execution."""
        started = self.client.start_execution(
            stateMachineArn=self.arn, name=name, input=json.dumps({"event": event or {}, "memory": {}})
        )
        return str(started["executionArn"])

    def finished(self, execution: str) -> str:
        """Return the ARN of the execution once it has ended."""
        self.run(execution)
        return execution
