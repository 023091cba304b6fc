"""What a rule is, and the list of all of them."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from config.errors import Level, Problem
from config.model import ClusterConfig

Check = Callable[[ClusterConfig], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """Something that must hold between fields, beyond the type and the bounds of each."""

    id: str
    needs: frozenset[str]
    says: str
    why: str
    check: Check
    level: Level = Level.ERROR


RULES: dict[str, Rule] = {}


def rule(id: str, *needs: str, level: Level = Level.ERROR) -> Callable[[Check], Check]:
    """Register a check under ``id``; it sees a cluster of which what it ``needs`` is valid by itself.

    It needs all of a field (``storage``), a field of a section (``storage.lustre``), or no more than those entries of a list that
    are valid (``users[]``), which ``numbered`` gives their places. The docstring's first paragraph is the rule, as users read it,
    and the second is why it matters.
    """

    def register(check: Check) -> Check:
        says, _, why = (check.__doc__ or "").strip().partition("\n\n")
        RULES[id] = Rule(id, frozenset(needs), says, " ".join(why.split()), check, level)
        return check

    return register


def broken_rules(config: ClusterConfig, valid: Collection[str]) -> Iterator[Problem]:
    """The problems that the rules find, of those that need nothing but ``valid`` fields."""
    for each in RULES.values():
        if all(_is_valid(need, valid) for need in each.needs):
            yield from (replace(problem, rule=each.id, level=each.level) for problem in each.check(config))


def _is_valid(need: str, valid: Collection[str]) -> bool:
    """Tell whether it, or what it is a part of, is valid."""
    if need in valid:
        return True
    whole = need.removesuffix("[]") if need.endswith("[]") else need.rpartition(".")[0]
    return bool(whole) and _is_valid(whole, valid)
