"""Silences the warnings that a cluster file names, and looks at whether it names any that there are."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.suggestions import nearest
from validation.catalog import catalog


def with_silence(problems: Iterable[Problem], config: ClusterConfig, valid: Collection[str]) -> list[Problem]:
    """The problems, of which the warnings that the file silences say so; and what is wrong with its silencing."""
    found = list(problems)
    if "silence" not in valid:
        return found
    reasons = {each.rule: each.reason for each in config.silence}
    marked = [replace(each, silenced=reasons.get(each.rule)) if each.level is Level.WARNING else each for each in found]
    return [*marked, *_wrong(config, marked)]


def _wrong(config: ClusterConfig, problems: list[Problem]) -> Iterator[Problem]:
    known = catalog()
    warnings = [rule for rule, entry in known.items() if entry.level is Level.WARNING]
    # An error can keep rules from being looked at, so that nobody knows what they would have told.
    complete = all(problem.level is not Level.ERROR for problem in problems)
    told = {problem.rule for problem in problems}
    named: set[str] = set()
    for index, each in enumerate(config.silence):
        path: Path = ("silence", index, "rule")
        if each.rule not in known:
            yield Problem(path, each.rule, f"is no rule; {nearest(each.rule, warnings)}", "silence.unknown")
        elif each.rule not in warnings:
            yield Problem(path, each.rule, "is not a warning, and nothing else can be silenced; remove it", "silence.no-warning")
        elif each.rule in named:
            yield Problem(path, each.rule, "is silenced above; keep one of the reasons", "silence.twice")
        elif complete and each.rule not in told:
            message = "this file gives no such warning; remove it"
            yield Problem(path, each.rule, message, "silence.unused", Level.INFO)
        named.add(each.rule)
