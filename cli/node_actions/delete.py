"""`./hpod delete`: remove chosen nodes from their groups."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_actions.batches import Options, Outcome, Run
from cli.node_actions.drained import jobs_on, jobs_table
from cli.node_actions.site import Site
from cli.node_directory import Node, labels
from cli.remote.shell import Shell
from cli.result import Block, Json, Result, Show, Table, Verbatim, ignore
from cli.scale import scaled
from config.instance_group import Role

DELETED = "deleted"


def delete(
    deployment: Deployment,
    *,
    nodes: Sequence[str],
    file: Path,
    options: Options,
    scale: bool = False,
    confirm: Confirm = without_asking,
    show: Show = ignore,
    shell: Shell | None = None,
) -> Result:
    """Delete the nodes; with ``scale``, lower `instance_count` in the file."""
    site, chosen = Site.of(deployment, nodes, drain=options.drain, shell=shell, show=show)
    left = _left(site, chosen)
    _demand_counts(site, left, file, scale=scale)
    if options.drain:
        site.demand_known(chosen)
    jobs = jobs_on(site, chosen)
    if jobs:
        show(jobs_table(site, jobs))
    confirm(f"Delete {counted(len(chosen), 'node')} of {site.cluster} and their disks ({labels(chosen)})?")
    outcomes = Run(site, "delete", options).outcomes(chosen)
    edits = _edit(site, file, left, outcomes) if scale else []
    return _result(site, outcomes, edits, [group for group in left if scale and group not in _counts(site)])


def _left(site: Site, chosen: Sequence[Node]) -> dict[str, int]:
    """Return the number of nodes that each group has afterwards."""
    groups = site.deployment.cluster()["InstanceGroups"]
    # HyperPod may list more nodes than the target, and fewer while it has no capacity.
    listed = Counter(node.group for node in site.nodes if node.status != "ShuttingDown")
    counts = {group["InstanceGroupName"]: int(group["TargetCount"]) for group in groups}
    if controllers := [node for node in chosen if node.role == Role.CONTROLLER]:
        raise CommandError(
            f"cannot delete {labels(controllers)}: HyperPod keeps Slurm controllers", "destroy the cluster instead"
        )
    return {name: max(counts[name], listed[name]) - count for name, count in Counter(node.group for node in chosen).items()}


def _demand_counts(site: Site, left: Mapping[str, int], file: Path, *, scale: bool) -> None:
    """Raise a CommandError if the file requires more nodes than are left, because the next deployment would add them again."""
    for group in site.deployment.config.instance_groups:
        if group.name not in left:
            continue
        remain = f"{group.name}: {counted(left[group.name], 'node')} would be left"
        if left[group.name] < (group.min_instance_count or 0):
            raise CommandError(f"{remain}, and min_instance_count is {group.min_instance_count}", "lower it first")
        if left[group.name] < group.instance_count and not scale:
            fix = f"pass --scale to set it to {left[group.name]} in {file}"
            raise CommandError(f"{remain}, and instance_count is {group.instance_count}, so a deployment adds nodes again", fix)
        if scale and left[group.name] < group.instance_count:
            scaled(file, group.name, left[group.name], dry_run=True)


def _counts(site: Site) -> dict[str, int]:
    """Return the `instance_count` of each group of the file."""
    return {group.name: group.instance_count for group in site.deployment.config.instance_groups}


def _edit(site: Site, file: Path, left: Mapping[str, int], outcomes: Sequence[Outcome]) -> list[Json]:
    """Lower the counts in the file to the nodes that are left; never raise one."""
    kept = Counter(outcome.node.group for outcome in outcomes if not outcome.is_done)
    counts = _counts(site)
    lower = {group: count + kept[group] for group, count in left.items() if count + kept[group] < counts.get(group, 0)}
    return [dict(edit) for group, count in lower.items() if (edit := scaled(file, group, count).data)]


def _result(site: Site, outcomes: Sequence[Outcome], edits: Sequence[Json], not_in_file: Sequence[str]) -> Result:
    left = [outcome.node for outcome in outcomes if not outcome.is_done]
    data = {
        "cluster": site.cluster,
        "nodes": [{**each.data(), **({"result": DELETED} if each.is_done else {})} for each in outcomes],
        "edits": list(edits),
        "groups_not_in_file": list(not_in_file),
    }
    rows = [(each.node.label, each.node.instance, _cell(each)) for each in outcomes]
    text: list[Block] = [Table(("NODE", "INSTANCE", "RESULT"), rows), *(Verbatim(edit["diff"]) for edit in edits if edit["diff"])]
    if not_in_file:
        text.append(f"not in the cluster file, so without a new count: {', '.join(not_in_file)}")
    if edits:
        text.append(f"deploy the new counts, or a later rollback restores the old ones: `{site.deployment.deploy_command}`")
    if not left:
        return Result(data, text)
    text.append(f"to use the other nodes again: {site.command('resume', left)}")
    return Result(data, text, [], f"delete failed for {len(left)} of {counted(len(outcomes), 'node')}")


def _cell(outcome: Outcome) -> str:
    if outcome.is_done:
        return DELETED
    return outcome.problem or ": ".join(filter(None, (outcome.result, outcome.note)))
