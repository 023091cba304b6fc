"""The errors that fail a node. Their text is one line, the last one in the node's log."""


class NodeError(Exception):
    """This node cannot be provisioned; the text names the problem and the fix."""


def problem_of(error: Exception, *expected: type[Exception]) -> str:
    """Return one line about an error: its text if it is a NodeError or ``expected``."""
    if isinstance(error, (NodeError, *expected)):
        return str(error)
    return f"unexpected {type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"
