"""Write the known differences into docs/internals/fidelity.md: `python -m tests.contract.aws_facts.page`."""

from pathlib import Path
from typing import Any

from tests.contract.aws_facts.fact import load
from tests.contract.aws_facts.known import KNOWN

PAGE = Path(__file__).parents[3] / "docs" / "internals" / "fidelity.md"
BEGIN, END = "<!-- known differences: make docs -->\n", "<!-- end of known differences -->\n"


def rewritten(page: str) -> str:
    """Return the page with today's number of facts and table of known differences."""
    facts, (before, _, rest) = load(), page.partition(BEGIN)
    same = len(facts) - len({name for name, _ in KNOWN})
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
