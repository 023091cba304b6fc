"""`./hpod apply CLUSTER [NODE]`: run the deployed lifecycle scripts on running nodes that have no agent."""

import shlex
from collections.abc import Iterator, Sequence

from cli.confirm import Confirm
from cli.deployment import Deployment
from cli.errors import OpsError
from cli.node_directory import ALL, Node, labels, node_directory, session_shell
from cli.reach.run import NodeResult, in_sessions
from cli.reach.ssh import require_plugin
from cli.remote.shell import Shell
from cli.result import Json, Result, Show, Table, ignore
from config.instance_group import Role

AGENT = "hyperpod-follow.timer"
FOLDER = "/root/hyperpod-cdk-scripts"
HAS_AGENT = "has an agent: unchanged"
WAVES = (Role.CONTROLLER, Role.LOGIN, Role.COMPUTE)
MESSAGE_LENGTH = 400


def apply(
    deployment: Deployment,
    *,
    node: str | None,
    timeout_s: int,
    confirm: Confirm,
    show: Show = ignore,
    shell: Shell | None = None,
) -> Result:
    """Run the scripts of the last deployment: on controllers, then on login nodes, then on the others."""
    if shell is None:
        require_plugin()
    uri = _scripts(deployment)
    directory = node_directory(deployment, shell)
    nodes = [each for each in directory.find(node or ALL, accept_all=True) if each.status == "Running"]
    if not nodes:
        raise OpsError(f"{node or ALL}: no Running node; see `./hpod status {deployment.config.name}`")
    confirm(f"Run the lifecycle scripts as root on {len(nodes)} nodes of {directory.cluster}?")
    results: list[NodeResult] = []
    for wave in _waves(nodes):
        show(f"{len(wave)} nodes: {labels(wave)}")
        results += in_sessions(wave, apply_script(uri), timeout_s, shell or session_shell(deployment))
        if any(each.status for each in results):
            break
    return _result(directory.cluster, nodes, results)


def _scripts(deployment: Deployment) -> str:
    if deployment.config.lifecycle.source:
        raise OpsError("lifecycle.source: your own scripts may not be safe to run again; run them with `./hpod run`")
    uri = deployment.outputs().get("LifecycleScripts")
    if not uri:
        stack = f"{deployment.config.name}-Cluster"
        raise OpsError(f"stack {stack} has no output LifecycleScripts; run `{deployment.deploy_command}`")
    return uri


def apply_script(uri: str) -> str:
    """Return the script for a node. It keeps the downloaded scripts, because services may run them after a reboot."""
    return f"""\
set -euo pipefail
if systemctl --quiet is-enabled {AGENT} 2>/dev/null; then echo '{HAS_AGENT}'; exit 0; fi
rm --recursive --force {FOLDER}
aws s3 cp --only-show-errors --recursive {shlex.quote(uri)} {FOLDER}
bash {FOLDER}/on_create.sh
"""


def _waves(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """Yield the nodes role by role; those of groups that are not in the file come last."""
    for role in WAVES:
        if of_role := [node for node in nodes if node.role == role]:
            yield of_role
    if others := [node for node in nodes if node.role not in WAVES]:
        yield others


def _result(cluster: str, nodes: Sequence[Node], results: Sequence[NodeResult]) -> Result:
    reached = {each.node for each in results}
    rest = [{**_names(node), "result": "not_reached", "message": None} for node in nodes if node not in reached]
    data = [*map(_data, results), *rest]
    rows = [(row["instance_id"], row["host"] or "-", row["result"], row["message"] or "") for row in data]
    failed = sum(row["result"] == "failed" for row in data)
    problem = f"{failed} of {len(nodes)} nodes failed, {len(rest)} not reached; fix the cause and run this command again"
    table = Table(("NODE", "HOST", "RESULT", "MESSAGE"), rows)
    return Result({"cluster": cluster, "nodes": data}, [table], failure=problem if failed else "")


def _data(result: NodeResult) -> Json:
    text = (result.output.text if result.output else result.error).strip()
    last = text.rpartition("\n")[2][-MESSAGE_LENGTH:]
    outcome = "failed" if result.status else "unchanged" if last == HAS_AGENT else "applied"
    return {**_names(result.node), "result": outcome, "message": last or None}


def _names(node: Node) -> Json:
    return {"instance_id": node.instance, "name": node.name or None, "host": node.host or None, "group": node.group}
