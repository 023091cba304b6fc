"""CloudWatch metrics, as far as alarms need them: metric filters on log groups, Lambda's own metrics, and alarms on both."""

from local_aws.metrics import alarms, filters, history


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Count what is written to log groups, search it with JSON patterns, and answer for the history of alarms."""
    filters.install()
    history.install()


def reset() -> None:
    """Delete all values."""
    alarms.forget()
