"""The operations of a rollout's schedule; docs/internals/soak.md describes them."""

from tests.soak.faults import KINDS
from tests.soak.rollout.account import HOSTILE
from tests.soak.rollout.stack import FILES
from tests.soak.schedule import CODES, FUNCTIONS, OPERATIONS, Number, Operations, Word

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
    "deploy": {"file": Word(tuple(FILES)), "then": Word(("", "rollback"))},
    "fault": {**OPERATIONS["fault"], "function": Word(FUNCTIONS), "call": Word(CALLS), "kind": Word(KINDS), "code": Word(CODES)},
    "late": {"seconds": Number(20)},
    "hand": {"what": Word(("delete", "malformed", "older"))},
    "record": {"node": Number(20), "what": Word(tuple(HOSTILE)), "version": Word(VERSIONS)},
    "node_does": {
        "node": Number(20),
        "what": Word(("break", "silence", "slow", "heal", "leave", "replace")),
        "version": Word(VERSIONS),
    },
}
