"""To be written."""


def install(endpoint: str) -> None:
    """Nothing yet."""


def reset() -> None:
    """Nothing yet."""
