"""`./hpod rerun-scripts CLUSTER [NODE]`: run the deployed lifecycle scripts on running nodes that no deployment changes."""

import shlex
from collections.abc import Iterator, Sequence

from cli.confirm import Confirm
from cli.counted import counted
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_directory import ALL, Node, labels
from cli.reach.run import NodeResult, in_sessions
from cli.reach.ssh import with_shell
from cli.remote.shell import PARALLEL_SESSIONS, Shell
from cli.result import Block, Json, Result, Show, Table, error_problem, ignore
from config.instance_group import Role

AGENT = "hyperpod-follow.timer"
FOLDER = "/root/hyperpod-cdk-scripts"
HAS_AGENT = "has an agent: unchanged"
ROLES = (Role.CONTROLLER, Role.LOGIN, Role.COMPUTE, "")
"""The roles in the order of the batches; groups that are not in the file have none."""
MESSAGE_LENGTH = 400
FAILED, UNCHANGED, NOT_STARTED = "failed", "unchanged", "not_started"
RESULTS = {UNCHANGED: "unchanged: has an agent", NOT_STARTED: "not started"}
"""Results that read otherwise in a table than in JSON."""


def rerun_scripts(
    deployment: Deployment,
    *,
    node: str | None,
    timeout_s: int,
    confirm: Confirm,
    show: Show = ignore,
    shell: Shell | None = None,
) -> Result:
    """Run the scripts of the last deployment batch by batch; stop after a batch with a failure."""
    if deployment.is_eks:
        name = deployment.config.name
        raise CommandError(
            f"cluster {name!r} uses EKS, whose nodes run scripts only at their start",
            f"run `{deployment.hpod('replace', 'NODE')}`",
        )
    script = node_script(_scripts(deployment))
    directory, shell = with_shell(deployment, shell)
    nodes = [each for each in directory.find(node or ALL, accept_all=True) if each.status == "Running"]
    if not nodes:
        raise CommandError(f"{node or ALL}: no Running node", f"see `{deployment.hpod('status')}`")
    confirm(f"Run the lifecycle scripts as root on {counted(len(nodes), 'node')} of {directory.cluster}?")
    results: list[NodeResult] = []
    for batch in _batches(nodes):
        show(f"{counted(len(batch), 'node')}: {labels(batch)}")
        results += in_sessions(batch, script, timeout_s, shell)
        if any(each.status for each in results):
            break
    return _result(directory.cluster, nodes, results)


def _scripts(deployment: Deployment) -> str:
    if deployment.config.lifecycle.source:
        raise CommandError("lifecycle.source: your own scripts may not be safe to run again", "run them with `./hpod run`")
    uri = deployment.outputs().get("LifecycleScripts")
    if not uri:
        stack = f"{deployment.config.name}-Cluster"
        raise CommandError(f"stack {stack} has no output LifecycleScripts", f"run `{deployment.deploy_command}`")
    return uri


def node_script(uri: str) -> str:
    """Return the script for a node. It keeps the downloaded scripts, because services may run them after a reboot."""
    return f"""\
set -euo pipefail
if systemctl --quiet is-enabled {AGENT} 2>/dev/null; then echo '{HAS_AGENT}'; exit 0; fi
rm --recursive --force {FOLDER}
aws s3 cp --only-show-errors --recursive {shlex.quote(uri)} {FOLDER}
bash {FOLDER}/on_create.sh
"""


def _batches(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """Yield the nodes role by role: controllers one by one, the others as many at a time as there are sessions."""
    for role in ROLES:
        of_role = [node for node in nodes if node.role == role]
        size = 1 if role == Role.CONTROLLER else PARALLEL_SESSIONS
        for start in range(0, len(of_role), size):
            yield of_role[start : start + size]


def _result(cluster: str, nodes: Sequence[Node], results: Sequence[NodeResult]) -> Result:
    reached = {each.node for each in results}
    rest = [{**node.names, "result": NOT_STARTED, "message": None} for node in nodes if node not in reached]
    data = [*map(_data, results), *rest]
    rows = [(row["instance_id"], row["host"] or "-", RESULTS.get(row["result"], row["result"])) for row in data]
    text: list[Block] = [Table(("NODE", "HOST", "RESULT"), rows)]
    failed = [row for row in data if row["result"] == FAILED]
    if not failed:
        return Result({"cluster": cluster, "nodes": data}, text)
    text.append("\n".join(f"{row['instance_id']}: {row['message'] or 'no output'}" for row in failed))
    problem = f"{len(failed)} of {counted(len(nodes), 'node')} failed, {len(rest)} not started"
    failure = CommandError(problem, "fix the cause and run this command again")
    return Result({"cluster": cluster, "nodes": data}, text, [error_problem(failure)], str(failure))


def _data(result: NodeResult) -> Json:
    last = result.text.strip().rpartition("\n")[2][-MESSAGE_LENGTH:]
    outcome = FAILED if result.status else UNCHANGED if last == HAS_AGENT else "applied"
    return {**result.node.names, "result": outcome, "message": last or None}
