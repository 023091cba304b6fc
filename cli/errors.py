"""What an operator is told when a command cannot do its work."""


class OpsError(Exception):
    """The command cannot do its work; the text says why and what to do."""
