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
    """Register a check under ``id``; it sees a cluster of which the fields in ``needs`` are valid by themselves.

    The docstring's first paragraph is the rule, as users read it, and the second is why it matters.
    """

    def register(check: Check) -> Check:
        says, _, why = (check.__doc__ or "").strip().partition("\n\n")
        RULES[id] = Rule(id, frozenset(needs), says, " ".join(why.split()), check, level)
        return check

    return register


def broken_rules(config: ClusterConfig, valid: Collection[str]) -> Iterator[Problem]:
    """The problems that the rules find, of those that need nothing but ``valid`` fields."""
    for each in RULES.values():
        if each.needs <= set(valid):
            yield from (replace(problem, rule=each.id, level=each.level) for problem in each.check(config))
