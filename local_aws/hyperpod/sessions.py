"""Whether Session Manager can reach a node: its agent connects with the execution role's rights.

AWS documents GetConnectionStatus for managed nodes; this assumes HyperPod's targets, as in StartSession. Sessions are not part
of the embedded AWS: use `python -m local_aws shell` for a shell on a simulated node.
"""

from local_aws.hyperpod.model import Cluster, Node, everything
from local_aws.hyperpod.roles import ExecutionRole
from local_aws.json_service import Call, Json, NotHandledError, Operation

_PREFIX = "sagemaker-cluster:"
# The agent's calls: https://docs.aws.amazon.com/systems-manager/latest/userguide/systems-manager-setting-up-messageAPIs.html
_CHANNELS = tuple(f"ssmmessages:{verb}{kind}Channel" for verb in ("Create", "Open") for kind in ("Control", "Data"))


def get_connection_status(call: Call) -> Json:
    """Return `connected` for a running node whose role allows the agent to open its channels."""
    target = str(call.request["Target"])
    if not target.startswith(_PREFIX):
        raise NotHandledError
    is_connected = any(
        _target(cluster, node) == target and _is_connected(cluster, node)
        for cluster in everything()
        if (cluster.account, cluster.region) == (call.account, call.region)
        for node in cluster.nodes
    )
    return {"Target": target, "Status": "connected" if is_connected else "notconnected"}


def _target(cluster: Cluster, node: Node) -> str:
    return f"{_PREFIX}{cluster.id}_{node.group}-{node.id}"


def _is_connected(cluster: Cluster, node: Node) -> bool:
    role = ExecutionRole.of(cluster, node.spec)
    return node.status == "Running" and all(role.may(action, "*") for action in _CHANNELS)


OPERATIONS: dict[str, Operation] = {"GetConnectionStatus": get_connection_status}
