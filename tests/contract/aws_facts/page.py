"""Write the known differences into docs/internals/fidelity.md: `python -m tests.contract.aws_facts.page`."""

from pathlib import Path
from typing import Any

from tests.contract.aws_facts.fact import FACTS, load
from tests.contract.aws_facts.known import KNOWN

PAGE = Path(__file__).parents[3] / "docs" / "internals" / "fidelity.md"
BEGIN, END = "<!-- known differences: make docs -->\n", "<!-- end of known differences -->\n"
JUDGES = {"engine": "", "fake_states": " (the fake of Step Functions)", "soak": " (the model checker)"}


def rewritten(page: str) -> str:
    """Return the page with today's list."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + listed() + "\n" + END + rest.partition(END)[2]


def listed() -> str:
    """Return the number of facts and the table of known differences."""
    load()
    differing = len({name for name, _ in KNOWN})
    rows = [_row(name, judge) for name, judge in sorted(KNOWN)]
    head = ["| fact | on AWS | here | why it stays |", "|---|---|---|---|"] if rows else []
    count = f"Of {len(FACTS)} recorded or documented facts, {len(FACTS) - differing} hold here. The others:"
    return "\n".join([count, "", *head, *rows, ""])


def _row(name: str, judge: str) -> str:
    fact, known = FACTS[name], KNOWN[name, judge]
    where = f"`{name}`: {fact.says}{JUDGES[judge]}"
    return f"| {where} | {_shown(fact.expected)} | {_shown(known.here)} | {known.kind}: {known.reason} |"


def _shown(answer: Any) -> str:
    text = ", ".join(map(str, answer)) if isinstance(answer, list | tuple) else str(answer)
    return (text or "nothing").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
