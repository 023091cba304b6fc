"""Register rules."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial

from cluster_request.effective_request import EffectiveRequest
from config.errors import Level, Problem
from config.model import ClusterConfig, Orchestrator

Check = Callable[[ClusterConfig], Iterator[Problem]]
RequestCheck = Callable[[EffectiveRequest], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """A requirement on several fields, beyond the type and bounds of each."""

    id: str
    needs: tuple[str, ...]
    says: str
    why: str
    check: Callable[[ClusterConfig, EffectiveRequest], Iterator[Problem]]
    level: Level
    orchestrator: Orchestrator | None
    """The only orchestrator for which the rule holds; None for all."""


RULES: dict[str, Rule] = {}
# Rules about a rendered Helm chart: only `validate`, `preflight` and synth check them, because other commands work without Helm.
CHART_RULES: dict[str, Rule] = {}

# What a rule about the nodes' mounts needs.
FILE_SYSTEMS = ("storage.lustre", "storage.existing", "storage.openzfs")


def rule(id: str, *needs: str, level: Level = Level.ERROR, orchestrator: Orchestrator | None = None) -> Callable[[Check], Check]:
    """Register a check of the file under ``id``, for clusters with any or this orchestrator.

    It runs only if the fields that it ``needs`` are valid. A need is a field (``storage``), a field of a section
    (``storage.lustre``), or the valid entries of a list (``users[]``), which ``numbered`` enumerates. In the docstring, the first
    paragraph is the rule for users, and the second is why it matters.
    """

    def register(check: Check) -> Check:
        RULES[id] = Rule(id, needs, *_texts(check), lambda config, _: check(config), level, orchestrator)
        return check

    return register


def request_rule(
    id: str, *needs: str, level: Level = Level.ERROR, orchestrator: Orchestrator | None = None
) -> Callable[[RequestCheck], RequestCheck]:
    """Register a check of the request under ``id``, with fields and `overrides` merged; otherwise like ``rule``."""

    def register(check: RequestCheck) -> RequestCheck:
        RULES[id] = Rule(id, needs, *_texts(check), lambda _, request: check(request), level, orchestrator)
        return check

    return register


def chart_rule(id: str, level: Level = Level.ERROR) -> Callable[[Check], Check]:
    """Register a check of the rendered Helm chart of a file without errors; it runs after those registered before it."""

    def register(check: Check) -> Check:
        needs = ("eks.helm_chart",)
        CHART_RULES[id] = Rule(id, needs, *_texts(check), lambda config, _: check(config), level, Orchestrator.EKS)
        return check

    return register


slurm_rule = partial(rule, orchestrator=Orchestrator.SLURM)
slurm_request_rule = partial(request_rule, orchestrator=Orchestrator.SLURM)
eks_rule = partial(rule, orchestrator=Orchestrator.EKS)
eks_request_rule = partial(request_rule, orchestrator=Orchestrator.EKS)


def _texts(check: object) -> tuple[str, str]:
    says, _, why = (check.__doc__ or "").strip().partition("\n\n")
    return says, " ".join(why.split())


def broken_rules(config: ClusterConfig, request: EffectiveRequest, valid: Collection[str]) -> Iterator[Problem]:
    """Yield the problems of all rules for the file's orchestrator that need only ``valid`` fields."""
    for each in RULES.values():
        if each.orchestrator in (None, config.orchestrator) and all(_is_valid(need, valid) for need in each.needs):
            yield from (replace(problem, rule=each.id, level=each.level) for problem in each.check(config, request))


def broken_chart_rules(config: ClusterConfig) -> Iterator[Problem]:
    """Yield the problems of the chart that the file names; the other rules need a chart that can be rendered."""
    request = EffectiveRequest(config)
    for each in CHART_RULES.values():
        found = [replace(problem, rule=each.id, level=each.level) for problem in each.check(config, request)]
        yield from found
        if any(problem.level is Level.ERROR for problem in found):
            return


def _is_valid(need: str, valid: Collection[str]) -> bool:
    """Return whether the field, or what contains it, is valid."""
    if need in valid:
        return True
    whole = need.removesuffix("[]") if need.endswith("[]") else need.rpartition(".")[0]
    return bool(whole) and _is_valid(whole, valid)
