"""Register rules."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from config.errors import Level, Problem
from config.model import ClusterConfig

Check = Callable[[ClusterConfig], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """A requirement on several fields, beyond the type and bounds of each."""

    id: str
    needs: frozenset[str]
    says: str
    why: str
    check: Check
    level: Level = Level.ERROR


RULES: dict[str, Rule] = {}


def rule(id: str, *needs: str, level: Level = Level.ERROR) -> Callable[[Check], Check]:
    """Register a check under ``id``; it runs only if the fields that it ``needs`` are valid.

    A need is a field (``storage``), a field of a section (``storage.lustre``), or the valid entries of a list (``users[]``),
    which ``numbered`` enumerates. In the docstring, the first paragraph is the rule for users, and the second is why it matters.
    """

    def register(check: Check) -> Check:
        says, _, why = (check.__doc__ or "").strip().partition("\n\n")
        RULES[id] = Rule(id, frozenset(needs), says, " ".join(why.split()), check, level)
        return check

    return register


def broken_rules(config: ClusterConfig, valid: Collection[str]) -> Iterator[Problem]:
    """Yield the problems of all rules that need only ``valid`` fields."""
    for each in RULES.values():
        if all(_is_valid(need, valid) for need in each.needs):
            yield from (replace(problem, rule=each.id, level=each.level) for problem in each.check(config))


def _is_valid(need: str, valid: Collection[str]) -> bool:
    """Return whether the field, or what contains it, is valid."""
    if need in valid:
        return True
    whole = need.removesuffix("[]") if need.endswith("[]") else need.rpartition(".")[0]
    return bool(whole) and _is_valid(whole, valid)
