"""A clock that a test sets."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Time stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.now += timedelta(seconds=seconds)

    def after(self, seconds: float) -> datetime:
        """The moment ``seconds`` from now."""
        return self.now + timedelta(seconds=seconds)
