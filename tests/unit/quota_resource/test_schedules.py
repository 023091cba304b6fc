"""Drawn schedules of Custom::HyperPodComputeQuotas."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.cluster_resource.drawn_stack import HOUR_S, Change, DrawnStack, Fault, drawn, schedules
from tests.unit.quota_resource.fake_quotas import READS, FakeQuota, refusal
from tests.unit.quota_resource.quota_world import QuotaWorld, quota
from tests.unit.quota_resource.quota_world import settings as expected

Json = dict[str, Any]
FILES = st.dictionaries(st.sampled_from(["vision", "speech", "robots", "agents"]), st.integers(1, 3), min_size=1)
FAULTS = [
    ("after", refusal("InternalFailure", "lost", 500)),
    ("before", refusal("ThrottlingException", "later")),
    ("before", refusal("ConflictException", "later")),
]
OUTSIDE = ["deletes", "changes", "adds another team"]


@dataclass
class QuotaStack(DrawnStack[QuotaWorld]):
    """A stack with quotas."""

    world: QuotaWorld = field(default_factory=QuotaWorld)
    others: list[FakeQuota] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.world.quotas.refuses = lambda operation, _: self.check_fence(is_read=operation.startswith(READS))

    def items_of(self, file: dict[str, Any]) -> list[Json]:
        return [quota(team, count) for team, count in file.items()]

    def act(self, what: str) -> None:
        ours = [each for each in self.world.quotas.all.values() if each not in self.others]
        if what == "deletes" and ours:
            del self.world.quotas.all[ours[0].id]
        if what == "changes" and ours:
            ours[0].settings = {**ours[0].settings, "ComputeQuotaConfig": {}}
        if what == "adds another team":
            self.others.append(self.world.quotas.add(f"guests{len(self.others)}"))

    def check(self) -> None:
        self._check(self.current)

    def _check(self, quotas: list[Json]) -> None:
        assert self.world.ours() == expected(quotas)
        assert all(self.world.quotas.all[other.id] is other for other in self.others)
        assert len(self.world.quotas.all) == len(quotas) + len(self.others)

    def check_deleted(self) -> None:
        self._check([])
        before = len(self.world.quotas.calls)
        self.world.run(HOUR_S)
        assert all(operation.startswith(READS) for operation, _ in self.world.quotas.calls[before:])


@drawn(40)
@given(*schedules(FILES, FAULTS, OUTSIDE, 40))
def test_the_cluster_has_the_quotas_of_the_stack(first: dict[str, int], faults: list[Fault], changes: list[Change]) -> None:
    QuotaStack().live(first, faults, changes)
