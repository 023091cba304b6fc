"""`./hpod delete`: remove chosen nodes from their groups."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_actions.batches import OF_AWS, batches, call, problem_of
from cli.node_actions.drained import drain, jobs_on, jobs_table, released, without_jobs
from cli.node_actions.recover import Options
from cli.node_actions.returned import deleted
from cli.node_actions.site import Site
from cli.node_directory import Node, labels
from cli.remote.shell import Shell
from cli.result import Block, Json, Result, Show, Table, Verbatim, ignore
from cli.scale import scaled
from config.instance_group import Role

NOT_STARTED = "not started"


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
        show(jobs_table(jobs, site.scheduler_name))
    confirm(f"Delete {counted(len(chosen), 'node')} of {site.cluster} and their disks ({labels(chosen)})?")
    problems = _delete(site, chosen, options)
    gone = [node for node in chosen if node.instance not in problems]
    edits = _edit(site, file, left, chosen, gone) if scale else []
    return _result(site, chosen, problems, edits, [group for group in left if scale and group not in _counts(site)])


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


def _delete(site: Site, nodes: Sequence[Node], options: Options) -> dict[str, str]:
    """Delete the nodes batch by batch, and return the problem of each that is not gone."""
    problems: dict[str, str] = {}
    for batch in batches(nodes):
        if problems:
            problems |= dict.fromkeys((node.instance for node in batch), NOT_STARTED)
            continue
        try:
            problems |= _delete_batch(site, batch, options)
        except (CommandError, *OF_AWS) as error:  # not raised: the result names the nodes that are drained by now
            problems |= dict.fromkeys((node.instance for node in batch), problem_of("delete", error))
    return problems


def _delete_batch(site: Site, nodes: Sequence[Node], options: Options) -> dict[str, str]:
    if options.drain:
        drained = drain(site, nodes, site.reason("delete", options.reason))
        if not options.force and (busy := without_jobs(site, nodes, options.patience)):
            notes = released(site, nodes, drained)
            problems = dict.fromkeys((node.instance for node in nodes), busy)
            return problems | {instance: f"{NOT_STARTED}: {note}" for instance, note in notes.items()}
    refused = call(site, "delete", nodes)
    return refused | deleted(site, [node for node in nodes if node.instance not in refused], options.patience)


def _edit(site: Site, file: Path, left: Mapping[str, int], chosen: Sequence[Node], gone: Sequence[Node]) -> list[Json]:
    """Lower the counts in the file to the nodes that are left; never raise one."""
    kept = Counter(node.group for node in chosen) - Counter(node.group for node in gone)
    counts = _counts(site)
    lower = {group: count + kept[group] for group, count in left.items() if count + kept[group] < counts.get(group, 0)}
    edits = (scaled(file, group, count).data for group, count in lower.items())
    return [dict(edit) for edit in edits if edit]


def _data(node: Node, problem: str | None) -> Json:
    result = "deleted" if problem is None else "not_started" if problem.startswith(NOT_STARTED) else "failed"
    message = (problem or "").removeprefix(NOT_STARTED).removeprefix(": ")
    return {**node.names, "result": result, "message": message or None}


def _result(
    site: Site, chosen: Sequence[Node], problems: Mapping[str, str], edits: Sequence[Json], not_in_file: Sequence[str]
) -> Result:
    rows = [(node.label, node.instance, problems.get(node.instance, "deleted")) for node in chosen]
    data = {
        "cluster": site.cluster,
        "nodes": [_data(node, problems.get(node.instance)) for node in chosen],
        "edits": list(edits),
        "groups_not_in_file": list(not_in_file),
    }
    text: list[Block] = [Table(("NODE", "INSTANCE", "RESULT"), rows), *(Verbatim(edit["diff"]) for edit in edits if edit["diff"])]
    if not_in_file:
        text.append(f"not in the cluster file, so without a new count: {', '.join(not_in_file)}")
    if edits:
        text.append(f"deploy the new counts, or a later rollback restores the old ones: `{site.deployment.deploy_command}`")
    if not problems:
        return Result(data, text)
    kept = [node for node in chosen if node.instance in problems]
    text.append(f"to use the other nodes again: {site.command('resume', kept)}")
    return Result(data, text, [], f"delete failed for {len(problems)} of {counted(len(chosen), 'node')}")
