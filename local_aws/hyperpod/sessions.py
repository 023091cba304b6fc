"""Sessions on nodes: Session Manager's agent connects with the execution role's rights.

AWS documents GetConnectionStatus for managed nodes; this assumes HyperPod's targets, as in StartSession. A session has an id and
a token, but no data channel: Session Manager's websocket protocol is not emulated. The control path `sessions` shows the open
sessions to a stand-in for the Session Manager plugin, local_aws/nodes/session_manager_plugin.py.
"""

import secrets

from local_aws import control
from local_aws.errors import AwsError
from local_aws.hyperpod.model import Cluster, Node, everything
from local_aws.hyperpod.roles import ExecutionRole
from local_aws.json_service import Call, Json, NotHandledError, Operation

_PREFIX = "sagemaker-cluster:"
# The agent's calls: https://docs.aws.amazon.com/systems-manager/latest/userguide/systems-manager-setting-up-messageAPIs.html
_CHANNELS = tuple(f"ssmmessages:{verb}{kind}Channel" for verb in ("Create", "Open") for kind in ("Control", "Data"))
_DOCUMENTS = (
    "AWS-StartInteractiveCommand",
    "AWS-StartNonInteractiveCommand",
    "AWS-StartPortForwardingSession",
    "AWS-StartSSHSession",
    "SSM-SessionManagerRunShell",
)
_sessions: dict[str, Json] = {}


def get_connection_status(call: Call) -> Json:
    """Return `connected` for a running node whose role allows the agent to open its channels."""
    target = _target_of(call)
    return {"Target": target, "Status": "connected" if _is_reachable(call, target) else "notconnected"}


def start_session(call: Call) -> Json:
    """Open a session on a connected node.

    Texts of refusals: https://github.com/awslabs/awsome-distributed-ai/issues/280.
    """
    target, document = _target_of(call), call.request.get("DocumentName", _DOCUMENTS[-1])
    if document not in _DOCUMENTS:
        raise AwsError("InvalidDocument", f"Document with name {document} does not exist.")
    if not _is_reachable(call, target):
        raise AwsError("TargetNotConnected", f"{target} is not connected.")
    session_id, token = f"session-{secrets.token_hex(9)}", secrets.token_urlsafe(48)
    _sessions[session_id] = {"Target": target, "TokenValue": token}
    url = f"wss://ssmmessages.{call.region}.amazonaws.com/v1/data-channel/{session_id}?role=publish_subscribe"
    return {"SessionId": session_id, "TokenValue": token, "StreamUrl": url}


def terminate_session(call: Call) -> Json:
    """Close a session."""
    session_id = call.request["SessionId"]
    if _sessions.pop(session_id, None) is None:
        raise NotHandledError
    return {"SessionId": session_id}


def install() -> None:
    """Register the control path of the open sessions."""
    control.route("sessions", lambda _: _sessions)


def reset() -> None:
    """Close all sessions."""
    _sessions.clear()


def _target_of(call: Call) -> str:
    target = str(call.request["Target"])
    if not target.startswith(_PREFIX):
        raise NotHandledError
    return target


def _is_reachable(call: Call, target: str) -> bool:
    return any(
        _target(cluster, node) == target and _is_connected(cluster, node)
        for cluster in everything()
        if (cluster.account, cluster.region) == (call.account, call.region)
        for node in cluster.nodes
    )


def _target(cluster: Cluster, node: Node) -> str:
    return f"{_PREFIX}{cluster.id}_{node.group}-{node.id}"


def _is_connected(cluster: Cluster, node: Node) -> bool:
    role = ExecutionRole.of(cluster, node.spec)
    return node.status == "Running" and all(role.may(action, "*") for action in _CHANNELS)


OPERATIONS: dict[str, Operation] = {
    "GetConnectionStatus": get_connection_status,
    "StartSession": start_session,
    "TerminateSession": terminate_session,
}
