"""CloudWatch metrics, as far as alarms need them: metric filters on log groups, services' own metrics, and alarms on both."""

from local_aws.metrics import alarms, filters, history


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Count what is written to log groups, search it with JSON patterns, evaluate alarms, and answer for their history."""
    filters.install()
    alarms.install()
    history.install()


def reset() -> None:
    """Delete all values."""
    alarms.forget()
