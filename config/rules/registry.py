"""What a rule is, and the list of all of them."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from config.errors import Problem
from config.model import ClusterConfig

Check = Callable[[ClusterConfig], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """Something that must hold between fields, beyond the type and the bounds of each."""

    id: str
    needs: frozenset[str]
    says: str
    check: Check


RULES: dict[str, Rule] = {}


def rule(id: str, *needs: str) -> Callable[[Check], Check]:
    """Register a check under ``id``; it sees a cluster of which the fields in ``needs`` are valid by themselves."""

    def register(check: Check) -> Check:
        RULES[id] = Rule(id, frozenset(needs), (check.__doc__ or "").strip(), check)
        return check

    return register


def broken_rules(config: ClusterConfig, valid: Collection[str]) -> Iterator[Problem]:
    """The problems that the rules find, of those that need nothing but ``valid`` fields."""
    for each in RULES.values():
        if each.needs <= set(valid):
            yield from (replace(problem, rule=each.id) for problem in each.check(config))
