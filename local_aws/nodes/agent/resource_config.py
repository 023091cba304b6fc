"""The content of resource_config.json, which tells a node its cluster and all nodes' addresses.

Its members are those of awsome-distributed-ai, devops-agent/docs/hyperpod-mental-model.md (2026-07). Which address
PrimaryControllerIp is, and its value without SlurmConfig in the request, are not published.
"""

from local_aws.eks import model as eks
from local_aws.hyperpod.model import Cluster, Group, Node
from local_aws.json_service import Json
from local_aws.nodes.agent.behaviour import Behaviour


def resource_config(cluster: Cluster, behaviour: Behaviour) -> Json:
    """Return the file's content with `Instances` as a list in every group. Hold the clusters' lock."""
    has_type = behaviour.cluster_type == "written"
    groups = [
        {
            "Name": group.name,
            "InstanceType": group.spec.get("InstanceType", ""),
            "Instances": [_instance(cluster, node, behaviour) for node in _nodes(cluster, group)],
        }
        for group in cluster.groups.values()
    ]
    config = {"ClusterArn": cluster.arn, "ClusterName": cluster.name}
    return {"ClusterConfig": config | (_orchestrator(cluster) if has_type else {}), "InstanceGroups": groups}


def _nodes(cluster: Cluster, group: Group) -> list[Node]:
    """Return a group's nodes in the same order after a replacement: else slurmctld forgets when each node last answered."""
    return sorted((*cluster.nodes_of(group.name), *cluster.in_replacement(group.name)), key=lambda node: node.number)


def _instance(cluster: Cluster, node: Node, behaviour: Behaviour) -> Json:
    in_kubernetes = cluster.eks_arn and behaviour.cluster_type == "written"
    numbers = node.address.split(".")[2:] if node.address else []
    return {
        "InstanceName": f"hyperpod-{node.id}" if in_kubernetes else f"{node.group}-{node.number}",
        "AgentIpAddress": node.address if behaviour.agent_address == "same" else ".".join(["172", "16", *numbers]),
        "CustomerIpAddress": node.address,
        "InstanceId": node.id,
        **({"InstanceLabel": None} if in_kubernetes else {}),
    }


def _orchestrator(cluster: Cluster) -> Json:
    found = eks.by_arn(cluster.eks_arn) if cluster.eks_arn else None
    if found:
        details = found.details()
        block = {
            "EksClusterName": found.name,
            "EksClusterEndpoint": details.get("endpoint", ""),
            "EksClusterCertificateAuthority": details.get("certificateAuthority", {}).get("data", ""),
            "EksServiceIpv4Cidr": details["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
        }
        return {"ClusterType": "Kubernetes", "KubernetesConfig": block}
    heads = [name for name, group in cluster.groups.items() if group.spec.get("SlurmConfig", {}).get("NodeType") == "Controller"]
    addresses = [node.address for name in heads for node in cluster.nodes_of(name)]
    block = {"PrimaryControllerIp": next(iter(addresses), ""), "SecondaryControllerIps": addresses[1:]}
    return {"ClusterType": "Slurm", "SlurmConfig": block}
