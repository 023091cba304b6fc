"""The result of a check, and results as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


@dataclass(frozen=True)
class CheckResult:
    """PASS, FAIL or SKIP with a message, and the fix for a FAIL."""

    state: str
    message: str
    fix: str = ""


def passed(message: str) -> CheckResult:
    """Return the result of a check that passed."""
    return CheckResult(PASS, message)


def failed(message: str, fix: str) -> CheckResult:
    """Return the result of a check that failed."""
    return CheckResult(FAIL, message, fix)


def skipped(reason: str) -> CheckResult:
    """Return the result of a check that does not apply to this node."""
    return CheckResult(SKIP, reason)


def restart(unit: str, state: str) -> str:
    """Return the fix for a ``unit`` in ``state``: the commands that start it."""
    return f"{f'sudo systemctl unmask {unit}; ' if state == 'masked' else ''}sudo systemctl restart {unit}"


def table_of_node(name: str, results: Mapping[str, CheckResult]) -> str:
    """Return one node's results, one per line, with the fix below each failure."""
    width = max(map(len, results))
    lines = [name]
    for check, result in results.items():
        lines.append(f"  {result.state}  {check:{width}}  {result.message}")
        if result.state == FAIL:
            lines.append(f"        {'':{width}}  -> {result.fix}")
    return "\n".join(lines)


def table_of_nodes(nodes: Mapping[str, Mapping[str, CheckResult]], silent: Mapping[str, CheckResult]) -> str:
    """Return a row per node and a column per check, then each distinct failure with its nodes and its fix.

    ``silent`` are the nodes that did not answer.
    """
    checks = list(dict.fromkeys(check for results in nodes.values() for check in results))
    width = max(map(len, [*nodes, *silent, "node"]))
    lines = ["  ".join([f"{'node':{width}}", *checks])] if nodes else []
    for name in sorted(nodes):
        cells = [f"{nodes[name][check].state if check in nodes[name] else '-':{len(check)}}" for check in checks]
        lines.append("  ".join([f"{name:{width}}", *cells]).rstrip())
    lines += [f"{name:{width}}  no answer: {silent[name].message}" for name in sorted(silent)]
    for (check, message, fix), names in _failures(nodes).items():
        lines += ["", f"FAIL {check} on {', '.join(names)}: {message}", f"  -> {fix}"]
    for fix in dict.fromkeys(silent[name].fix for name in sorted(silent)):
        names = [name for name in sorted(silent) if silent[name].fix == fix]
        lines += ["", f"no answer from {', '.join(names)}", f"  -> {fix}"]
    return "\n".join(lines)


def _failures(nodes: Mapping[str, Mapping[str, CheckResult]]) -> dict[tuple[str, str, str], list[str]]:
    failures: dict[tuple[str, str, str], list[str]] = {}
    for name in sorted(nodes):
        for check, result in nodes[name].items():
            if result.state == FAIL:
                failures.setdefault((check, result.message, result.fix), []).append(name)
    return failures
