"""Check the monitoring section."""

from collections.abc import Iterator

from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import rule


@rule("duplicate-emails", "monitoring")
def duplicate_emails(config: ClusterConfig) -> Iterator[Problem]:
    """Each address in `monitoring.emails` must be unique.

    SNS has one subscription for each address: with two resources, deleting one would delete it.
    """
    seen: set[str] = set()
    for index, email in enumerate(config.monitoring.emails):
        if email.lower() in seen:
            yield Problem(("monitoring", "emails", index), email, "duplicate", "remove one")
        seen.add(email.lower())


@rule("unused-monitoring", "monitoring", level=Level.WARNING)
def unused_monitoring(config: ClusterConfig) -> Iterator[Problem]:
    """`monitoring.enabled: false` should have no other settings beside it.

    Without the monitoring stack, nothing uses them.
    """
    unused = sorted(config.monitoring.model_fields_set - {"enabled"})
    if not config.monitoring.enabled and unused:
        message = f"{', '.join(unused)} {'has' if len(unused) == 1 else 'have'} no effect"
        yield Problem(("monitoring", "enabled"), value=False, message=message, fix="remove it, or set `true`")
