"""What ends a node's provisioning. The text is one line: all that an operator sees in CloudWatch."""


class NodeError(Exception):
    """This node cannot be provisioned; the text says what was found and what to do."""


def unexpected(error: Exception) -> str:
    """One line about an error that nobody foresaw."""
    return f"unexpected {type(error).__name__}: {' '.join(str(error).split()) or 'without a text'}"
