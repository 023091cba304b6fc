"""The operations of a rollout's schedule; docs/internals/soak.md describes them."""

from tests.soak.rollout.account import HOSTILE
from tests.soak.rollout.stack import FILES
from tests.soak.schedule import ANY, OPERATIONS, Operations

CALLS = (
    "*",
    "DeleteParameter",
    "DescribeExecution",
    "FilterLogEvents",
    "GetExecutionHistory",
    "GetParameter",
    "ListClusterNodes",
    "ListExecutions",
    "PUT",
    "PutParameter",
    "Return",
    "StartExecution",
    "StopExecution",
)
VERSIONS = ("a", "b", "c")
SHARED = (
    "destroy",
    "cancel",
    "continue",
    "skip",
    "wait",
    "settle",
    "deliver",
    "destination",
    "outage",
    "lag",
    "release",
)
ROLLOUT_OPERATIONS: Operations = {
    **{name: OPERATIONS[name] for name in SHARED},
    "deploy": {**OPERATIONS["deploy"], "file": tuple(FILES)},
    "fault": {**OPERATIONS["fault"], "call": CALLS},
    "late": {"seconds": ANY},
    "hand": {"what": ("delete", "malformed", "older")},
    "record": {"node": ANY, "what": tuple(HOSTILE), "version": VERSIONS},
    "node_does": {"node": ANY, "what": ("break", "silence", "slow", "heal", "leave", "replace"), "version": VERSIONS},
}
