"""Numbers with their nouns."""


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: `1 node`, `2 nodes`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
