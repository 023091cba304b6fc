"""Create, update and delete until the quotas and the scheduler config of a cluster are as desired.

Each function looks at all items and makes every call that is due. Those of other owners are never changed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from cluster_resource.aws_api import ApiError, Kind
from cluster_resource.deadline import FINAL
from cluster_resource.errors import FinalError, PendingError
from cluster_resource.event import Owner
from quota_resource.differences import differs
from quota_resource.progress import Progress
from quota_resource.properties import Desired, Item
from quota_resource.quota_api import (
    BUSY,
    CREATE_FAILED,
    DELETE_FAILED,
    QUOTA,
    READY,
    SCHEDULER,
    UPDATE_FAILED,
    WORDS,
    Observed,
    QuotaApi,
    QuotaError,
)

FIX = "correct it in the cluster file, then deploy again"


class Work(NamedTuple):
    """Access to the items, their owner, and the reasons to wait for the next step."""

    api: QuotaApi
    owner: Owner
    progress: Progress
    waits: list[str]
    errors: list[QuotaError]

    def call(self, subject: str, note: str, call: Callable[[], None]) -> None:
        """Make a call that changes something, and wait for its effect. A rejected call does not stop the others."""
        try:
            call()
        except ApiError as error:
            if error.kind is Kind.BUSY:
                self.waits.append(f"{subject}: {error}")
                return
            failed = QuotaError(error, subject)
            if error.kind not in FINAL:
                raise failed from error
            self.errors.append(failed)
            return
        self.waits.append(f"{subject}: {note}")

    def finish(self) -> None:
        """Raise PendingError or the errors. While anything changes, rejected calls are repeated: compute can become free."""
        if self.waits:
            raise PendingError("; ".join([*self.waits, *map(str, self.errors)]))
        if self.errors:
            raise FinalError("; ".join(map(str, self.errors)))


class Plan(NamedTuple):
    """The desired items of a resource, those of the previous request for the same cluster, and the user's tags."""

    cluster_arn: str
    items: Mapping[str, Item]
    before: Mapping[str, Item]
    tags: Mapping[str, str]
    old_tags: Mapping[str, str] | None


def converge(work: Work, desired: Desired, before: Desired) -> str:
    """Create, update and delete items until the cluster has the desired ones; return the result as text."""
    is_same = before.cluster_arn == desired.cluster_arn
    tags = (desired.tags, before.tags if is_same else None)
    quotas = Plan(desired.cluster_arn, desired.quotas, before.quotas if is_same else {}, *tags)
    scheduler = Plan(desired.cluster_arn, desired.scheduler, before.scheduler if is_same else {}, *tags)
    # The scheduler config exists as long as the quotas, whose weights it uses.
    _converge(work, *((SCHEDULER, scheduler) if desired.scheduler else (QUOTA, quotas)))
    _converge(work, *((QUOTA, quotas) if desired.scheduler else (SCHEDULER, scheduler)))
    return f"{len(desired.quotas)} quotas: {work.progress.note}"


def delete(work: Work, cluster_arn: str) -> str:
    """Delete our quotas of the cluster, then our scheduler config; return the result as text."""
    for resource in (QUOTA, SCHEDULER):
        ours, _ = _by_owner(work, resource, cluster_arn)
        for observed in ours:
            _remove(work, observed)
        work.finish()
    return "all quotas are deleted"


def _converge(work: Work, resource: str, plan: Plan) -> None:
    ours, others = _by_owner(work, resource, plan.cluster_arn)
    _check_others(work, plan, others)
    kept: dict[str, Observed] = {}
    for observed in ours:
        item = plan.items.get(observed.team)
        if item is None or item.name != observed.name or observed.team in kept:
            _remove(work, observed)
        else:
            kept[observed.team] = observed
    for team, item in plan.items.items():
        if team in kept:
            _keep(work, item, kept[team], is_changed=plan.before.get(team, item).settings != item.settings)
            _retag(work, kept[team], plan)
        else:
            _create(work, resource, plan, item)
    work.finish()


def _by_owner(work: Work, resource: str, cluster_arn: str) -> tuple[list[Observed], list[Observed]]:
    """Return our items and those of others; the tags of each are read once per request."""
    ours: list[Observed] = []
    others: list[Observed] = []
    for observed in work.api.found(resource, cluster_arn):
        if observed.id not in work.progress.ours:
            try:
                work.progress.ours[observed.id] = work.api.owner(observed) == work.owner
            except ApiError as error:
                if error.kind is Kind.ABSENT:  # deleted since it was listed
                    continue
                raise
        (ours if work.progress.ours[observed.id] else others).append(observed)
    return ours, others


def _check_others(work: Work, plan: Plan, others: Iterable[Observed]) -> None:
    """Raise an error if another owner has the team or name of a desired item; wait if it is being deleted."""
    names = {item.name: team for team, item in plan.items.items()}
    for other in others:
        team = other.team if other.team in plan.items else names.get(other.name)
        if team is None:
            continue
        subject = _subject(other.resource, team)
        if other.status == "Deleting":
            work.waits.append(f"{subject}: {other} of another owner is being deleted")
            continue
        problem = f"{other} of the cluster belongs to another owner"
        raise FinalError(f"{subject}: {problem}; delete it, or remove yours from the cluster file")


def _subject(resource: str, team: str) -> str:
    return f"team {team}" if team else WORDS[resource]


def _create(work: Work, resource: str, plan: Plan, item: Item) -> None:
    subject = _subject(resource, item.team)
    if item.team in work.progress.created:
        work.waits.append(f"{subject}: {work.progress.created[item.team]} is not listed yet")
        return

    def call() -> None:
        created = work.api.create(resource, plan.cluster_arn, item, {**plan.tags, **work.owner.tags})
        work.progress.created[item.team] = created
        work.progress.ours[created] = True

    work.call(subject, "being created", call)


def _keep(work: Work, item: Item, observed: Observed, *, is_changed: bool) -> None:
    """Update an item that differs; wait until it is in effect."""
    subject, updated = _subject(observed.resource, item.team), work.progress.updated.get(observed.id)
    if observed.status in BUSY:
        work.waits.append(f"{subject}: {observed} is {observed.status}")
    elif observed.status in CREATE_FAILED:
        _recreate(work, item, observed)
    elif updated is None:
        if is_changed or observed.status not in READY or differs(item.settings, work.api.settings(observed)):
            _update(work, item, observed)
    elif observed.status in UPDATE_FAILED and work.progress.is_confirmed(observed.id):
        raise FinalError(f"{subject}: {observed} was not updated: {work.api.failure(observed)}; {FIX}")
    elif observed.version < updated or observed.status not in READY:
        work.waits.append(f"{subject}: {observed} does not show version {updated} yet")


def _recreate(work: Work, item: Item, observed: Observed) -> None:
    """Delete an item whose creation failed in an earlier request, or report the failure of this one."""
    if work.progress.created.get(item.team) == observed.id:
        subject = _subject(observed.resource, item.team)
        raise FinalError(f"{subject}: {observed} was not created: {work.api.failure(observed)}; {FIX}")
    _remove(work, observed)


def _update(work: Work, item: Item, observed: Observed) -> None:
    def call() -> None:
        work.progress.updated[observed.id] = work.api.update(observed, item.settings)

    work.call(_subject(observed.resource, item.team), "being updated", call)


def _retag(work: Work, observed: Observed, plan: Plan) -> None:
    """Change the user's tags if the template changed them."""
    if plan.old_tags is None or plan.old_tags == plan.tags or observed.id in work.progress.retagged:
        return
    try:
        work.api.retag(observed, plan.tags, sorted(set(plan.old_tags) - set(plan.tags)))
    except ApiError as error:
        raise QuotaError(error, _subject(observed.resource, observed.team)) from error
    work.progress.retagged.append(observed.id)


def _remove(work: Work, observed: Observed) -> None:
    """Delete an item, and wait until it is gone."""
    subject = _subject(observed.resource, observed.team)
    if observed.status == "Deleting":
        work.waits.append(f"{subject}: {observed} is being deleted")
        return
    if observed.status in DELETE_FAILED and observed.id in work.progress.deleted and work.progress.is_confirmed(observed.id):
        reason = work.api.failure(observed)
        raise FinalError(f"{subject}: {observed} was not deleted: {reason}; remove what blocks it, then try again")

    def call() -> None:
        work.api.delete(observed)
        if observed.id not in work.progress.deleted:
            work.progress.deleted.append(observed.id)

    work.call(subject, f"{observed} is being deleted", call)
