"""CloudWatch's metrics as far as alarms need them: metric filters on log groups, Lambda's own, and alarms on both."""

from local_aws.metrics import alarms, filters


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Count what log groups are told to."""
    filters.install()


def reset() -> None:
    """Forget all values."""
    alarms.forget()
