"""What ends a node's provisioning. The text is one line: all that an operator sees in CloudWatch."""


class NodeError(Exception):
    """This node cannot be provisioned; the text says what was found and what to do."""
