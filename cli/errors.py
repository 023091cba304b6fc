"""The error of a command."""


class OpsError(Exception):
    """The command failed; the text is `<problem>; <fix>`."""
