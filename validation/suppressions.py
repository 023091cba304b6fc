"""Apply and check the `suppress` section of a cluster file."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.suggestions import nearest
from validation.catalog import catalog
from validation.rules import CHART_RULES


def with_suppressions(problems: Iterable[Problem], config: ClusterConfig, valid: Collection[str]) -> list[Problem]:
    """Mark the warnings that the file suppresses, and add problems with the `suppress` section."""
    found = list(problems)
    if "suppress" not in valid:
        return found
    marked = _marked(found, config)
    return [*marked, *_wrong(config, marked)]


def with_chart_suppressions(problems: Iterable[Problem], config: ClusterConfig) -> list[Problem]:
    """Mark suppressed warnings about the rendered Helm chart, and add unused suppressions of these."""
    found = list(problems)
    names = {each.rule for each in found}
    unused = [index for index, each in enumerate(config.suppress) if each.rule in CHART_RULES.keys() - names]
    complete = all(each.level is not Level.ERROR for each in found)
    return [*_marked(found, config), *(_unused(config, index) for index in unused if complete)]


def _marked(problems: Iterable[Problem], config: ClusterConfig) -> list[Problem]:
    reasons = {each.rule: each.reason for each in config.suppress}
    return [replace(each, suppressed=reasons.get(each.rule)) if each.level is Level.WARNING else each for each in problems]


def _wrong(config: ClusterConfig, problems: list[Problem]) -> Iterator[Problem]:
    known = catalog()
    warnings = [rule for rule, entry in known.items() if entry.level is Level.WARNING]
    # An error can prevent rules from running, so their warnings are unknown.
    complete = all(problem.level is not Level.ERROR for problem in problems)
    found = {problem.rule for problem in problems}
    named: set[str] = set()
    for index, each in enumerate(config.suppress):
        path: Path = ("suppress", index, "rule")
        if each.rule not in known:
            yield Problem(path, each.rule, "unknown rule", nearest(each.rule, warnings), rule="suppress.unknown")
        elif each.rule not in warnings:
            yield Problem(path, each.rule, "only warnings can be suppressed", "remove it", rule="suppress.not-a-warning")
        elif each.rule in named:
            yield Problem(path, each.rule, "already suppressed above", "keep only one", rule="suppress.duplicate")
        elif complete and each.rule not in {*found, *CHART_RULES}:
            yield _unused(config, index)
        named.add(each.rule)


def _unused(config: ClusterConfig, index: int) -> Problem:
    message = "the file does not cause this warning"
    return Problem(
        ("suppress", index, "rule"), config.suppress[index].rule, message, "remove it", rule="suppress.unused", level=Level.INFO
    )
