"""Names on which the stacks, the nodes and the command line must agree."""


def bundle_parameter(cluster: str) -> str:
    """Return the SSM parameter that names the bundle of scripts for running nodes; ``cluster`` is the cluster file's name."""
    return f"/hyperpod-cdk/{cluster}/bundle"


def node_log_group(cluster: str) -> str:
    """Return the log group of the reports of the nodes' agents."""
    return f"/hyperpod-cdk/{cluster}/nodes"


def node_name(instance: str) -> str:
    """Return the name that HyperPod gives to a node in Kubernetes."""
    return f"hyperpod-{instance}"


def eks_log_group(eks_cluster: str) -> str:
    """Return the log group of an EKS control plane, whose name EKS determines."""
    return f"/aws/eks/{eks_cluster}/cluster"


MONITORING_ALARMS = (
    "SlurmctldDown",
    "SlurmdbdDown",
    "NodesDrained",
    "NodesDown",
    "NodeFault",
    "DiskSpaceLow",
    "BundleFailed",
    "Warnings",
    "FileSystemSpaceLow",
    "FileSystemThroughputHigh",
)
DEPLOYMENT_ALARMS = ("AnswerRefused", "DeletionFailed", "RequestUnanswered")


def alarm_names(cluster: str) -> list[str]:
    """Return the names of all alarms that a cluster can have."""
    return [f"{cluster}-{each}" for each in MONITORING_ALARMS] + [f"{cluster}-Cluster-{each}" for each in DEPLOYMENT_ALARMS]
