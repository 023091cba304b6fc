"""What a user of the cluster does on it."""

from tests.nodes.cluster.running import Running


def as_alice(cluster: Running, node: str, command: str) -> str:
    """What a command of a user prints."""
    return cluster.run(node, "runuser", "--login", "alice", "--command", command)


def state(cluster: Running, job: str) -> str:
    """The state of a job, or what squeue complains of."""
    return as_alice(cluster, "login-1", f"squeue --noheader --jobs={job} --format=%T 2>&1 || true")
