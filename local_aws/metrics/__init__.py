"""CloudWatch metrics, as far as alarms need them: metric filters on log groups, services' own metrics, and alarms on both."""

from local_aws.metrics import alarms, filters


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Count what is written to log groups, and evaluate alarms."""
    filters.install()
    alarms.install()


def reset() -> None:
    """Delete all values."""
    alarms.forget()
