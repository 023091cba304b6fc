"""The known differences from AWS; `python -m tests.contract.aws_facts.known` writes them into docs/internals/fidelity.md."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.contract.aws_facts.fact import load

PAGE = Path(__file__).parents[3] / "docs" / "internals" / "fidelity.md"
BEGIN, END = "<!-- known differences: make docs -->\n", "<!-- end of known differences -->\n"


class Difference(NamedTuple):
    """A judge's answer that is not AWS's: the answer, how bad that is (`silent`: accepted and ignored), and why it stays."""

    here: Any
    kind: Literal["harmless", "kinder", "stricter", "silent"]
    reason: str


ABORTS = "a deleted state machine aborts its executions at once; names of the product's machines are not reused"
UNKNOWN = "a condition key that is not evaluated here denies, so that no test passes by it"

KNOWN: dict[tuple[str, str], Difference] = {  # by a fact's id and a judge
    ("sfn-delete-running", "engine"): Difference("StateMachineDoesNotExist", "kinder", ABORTS),
    ("iam-logic-unknown-key", "engine"): Difference("denied", "stricter", UNKNOWN),
    ("s3-batch-wrong-version", "engine"): Difference([], "kinder", "only versions that were just listed are deleted"),
}


def rewritten(page: str) -> str:
    """Return the page with today's number of facts and table of known differences."""
    facts, (before, _, rest) = load(), page.partition(BEGIN)
    same = len(facts.keys() - {name for name, _ in KNOWN})
    count = f"Of {len(facts)} recorded or documented facts, {same} hold here. The others:"
    rows = ["| fact | on AWS | here | why it stays |", "|---|---|---|---|"]
    for (name, judge), known in sorted(KNOWN.items()):
        where = f"`{name}`{'' if judge == 'engine' else f' ({judge})'}: {facts[name].says}"
        rows.append(f"| {where} | {_shown(facts[name].expected)} | {_shown(known.here)} | {known.kind}: {known.reason} |")
    return before + BEGIN + "\n".join(["", count, "", *rows, "", END]) + rest.partition(END)[2]


def _shown(answer: Any) -> str:
    text = ", ".join(map(str, answer)) if isinstance(answer, list | tuple) else str(answer)
    return (text or "nothing").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
