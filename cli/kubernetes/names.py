"""Names in Kubernetes."""


def node_name(instance: str) -> str:
    """Return the name of an instance in Kubernetes."""
    return f"hyperpod-{instance}"
