"""How results are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.result import FAIL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hyperpod_node.precheck.result import Result


def of_node(name: str, results: Mapping[str, Result]) -> str:
    """One node's results, a line each, and below a failure what mends it."""
    width = max(map(len, results))
    lines = [name]
    for check, result in results.items():
        lines.append(f"  {result.state}  {check:{width}}  {result.found}")
        if result.state == FAIL:
            lines.append(f"        {'':{width}}  -> {result.remedy}")
    return "\n".join(lines)


def of_nodes(nodes: Mapping[str, Mapping[str, Result]], silent: Mapping[str, Result]) -> str:
    """A line per node and a column per check; then each different failure once, with the nodes that have it and its remedy.

    ``silent`` are nodes that gave no answer.
    """
    checks = list(dict.fromkeys(check for results in nodes.values() for check in results))
    width = max(map(len, [*nodes, *silent, "node"]))
    lines = ["  ".join([f"{'node':{width}}", *checks])] if nodes else []
    for name in sorted(nodes):
        cells = [f"{nodes[name][check].state if check in nodes[name] else '-':{len(check)}}" for check in checks]
        lines.append("  ".join([f"{name:{width}}", *cells]).rstrip())
    lines += [f"{name:{width}}  no answer: {silent[name].found}" for name in sorted(silent)]
    for (check, found, remedy), names in _failures(nodes).items():
        lines += ["", f"FAIL {check} on {', '.join(names)}: {found}", f"  -> {remedy}"]
    for remedy in dict.fromkeys(silent[name].remedy for name in sorted(silent)):
        names = [name for name in sorted(silent) if silent[name].remedy == remedy]
        lines += ["", f"no answer from {', '.join(names)}", f"  -> {remedy}"]
    return "\n".join(lines)


def _failures(nodes: Mapping[str, Mapping[str, Result]]) -> dict[tuple[str, str, str], list[str]]:
    failures: dict[tuple[str, str, str], list[str]] = {}
    for name in sorted(nodes):
        for check, result in nodes[name].items():
            if result.state == FAIL:
                failures.setdefault((check, result.found, result.remedy), []).append(name)
    return failures
