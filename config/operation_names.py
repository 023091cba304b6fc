"""Name what running nodes read and write: the stacks, the nodes and the command line must agree on it."""


def bundle_parameter(cluster: str) -> str:
    """Return the SSM parameter that names the bundle of scripts for running nodes; ``cluster`` is the cluster file's name."""
    return f"/hyperpod-cdk/{cluster}/bundle"


def node_log_group(cluster: str) -> str:
    """Return the log group of the reports of the nodes' agents."""
    return f"/hyperpod-cdk/{cluster}/nodes"
