"""Return nodes to service: slurmd or kubelet responds, `hyperpod-precheck` passes, and the scheduler resumes them."""

import json
from collections.abc import Sequence
from functools import partial

from cli.errors import CommandError
from cli.node_actions.patience import Patience
from cli.node_actions.site import Site
from cli.node_directory import Node
from cli.remote.sessions import SessionError
from cli.remote.shell import in_parallel
from config.instance_group import Role

PRECHECK = "/usr/local/bin/hyperpod-precheck"
PRECHECK_TIMEOUT_S = 120.0
NOT_INSTALLED = 127
UNCHECKED = "not checked: hyperpod-precheck is not installed"
SLURM_S, PRECHECKS_S = 600.0, 120.0


def return_to_service(
    site: Site, nodes: Sequence[Node], action: str, patience: Patience
) -> tuple[dict[str, str], dict[str, str]]:
    """Check the nodes and resume the healthy ones that this action drained; return problems and notes by instance id."""
    problems = _silent(site, nodes, patience)
    found, unchecked = prechecked(site, [node for node in nodes if node.instance not in problems], patience)
    problems |= found
    healthy = [node for node in nodes if node.instance not in problems]
    if site.shell and not site.is_eks:
        missing = f", not installed on {len(unchecked)}" if unchecked else ""
        site.show(f"hyperpod-precheck: {len(healthy) - len(unchecked)} of {len(nodes)} passed{missing}")
    _hold(site, [node for node in nodes if node.instance in problems], action)
    held = _resume(site, healthy, action)
    return problems, {
        node.instance: _note(held.get(node.instance), is_checked=node.instance not in unchecked) for node in healthy
    }


def _note(held: str | None, *, is_checked: bool) -> str:
    """Return the note of a node without a problem; ``held`` is the reason for which it stays drained."""
    drained = "" if held is None else f"stays drained: {held}"
    if is_checked:
        return drained and f"healthy, {drained}"
    return f"{UNCHECKED}; {drained}" if drained else UNCHECKED


def _silent(site: Site, nodes: Sequence[Node], patience: Patience) -> dict[str, str]:
    """Wait for the scheduler's daemon on the compute nodes, and return a problem for each that does not respond."""
    expected = {node.host: node for node in nodes if node.role in (Role.COMPUTE, "")}
    if site.scheduler is None or not expected:
        return {}
    states: dict[str, str] = {}

    def respond() -> bool:
        try:
            known = site.in_scheduler(expected.values())
        except CommandError as error:  # a controller restarts slurmctld when a node joins
            states.update(dict.fromkeys(expected, str(error)))
            return False
        states.clear()
        states.update({host: known[host].state if host in known else f"unknown to {site.scheduler_name}" for host in expected})
        return all(host in known and known[host].is_up for host in expected)

    daemon = site.scheduler.DAEMON
    if (patience if site.is_eks else _within(patience, SLURM_S)).until(respond):  # deep health checks take hours
        site.show(f"{daemon} responds on {len(expected)} of {len(expected)} nodes")
        return {}
    up = {host for host, node in site.in_scheduler(expected.values()).items() if node.is_up}
    return {node.instance: f"{daemon} does not respond: {states[host]}" for host, node in expected.items() if host not in up}


def prechecked(site: Site, nodes: Sequence[Node], patience: Patience) -> tuple[dict[str, str], set[str]]:
    """Run the checks on the nodes until they pass; return the problems at the deadline, and the nodes that have no checks."""
    unchecked = set[str]()
    problems: dict[str, str] = dict.fromkeys((node.instance for node in nodes), "not checked")

    def passed() -> bool:
        left = [node for node in nodes if node.instance in problems]
        for node, problem in zip(left, in_parallel(partial(_precheck, site), left), strict=True):
            problems[node.instance] = problem
            if problem == UNCHECKED:
                unchecked.add(node.instance)
            if problem in ("", UNCHECKED):
                del problems[node.instance]
        return not problems

    if site.shell is None or site.is_eks:  # hyperpod-precheck is not on EKS nodes: HyperPod's checks set the label
        return {}, set()
    _within(patience, PRECHECKS_S).until(passed)
    return problems, unchecked


def _precheck(site: Site, node: Node) -> str:
    """Return the failed checks of a node; empty if it passes, UNCHECKED if it has only the customer's own scripts."""
    assert site.shell is not None  # noqa: S101  the caller has checked it
    try:
        output = site.shell.run(node.target, f"{PRECHECK} --json", PRECHECK_TIMEOUT_S)
    except SessionError as error:
        return str(error)
    if output.status in (0, NOT_INSTALLED):
        return UNCHECKED if output.status else ""
    line = next((line for line in output.text.splitlines() if line.startswith('{"host": ')), None)
    if line is None:
        return f"hyperpod-precheck ended with {output.status}: {' '.join(output.text.split())[-300:]}"
    try:
        results = json.loads(line)["results"]
        return "; ".join(f"{name}: {each['message']}; {each['fix']}" for name, each in results.items() if each["state"] == "FAIL")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return f"hyperpod-precheck printed other JSON: {line[:300]}"


def _resume(site: Site, nodes: Sequence[Node], action: str) -> dict[str, str]:
    """Resume the nodes that this action drained, and return the reason of each that stays drained."""
    if site.scheduler is None or not nodes:
        return {}
    known = site.in_scheduler(nodes)
    by_this_action = f"hpod {action} by "  # in an earlier or the present run
    ours = {host for host, node in known.items() if node.is_drained and node.reason.startswith(by_this_action)}
    site.scheduler.resume(ours)
    held = {host: node.reason for host, node in known.items() if node.is_drained and host not in ours}
    return {node.instance: held[node.host] for node in nodes if node.host in held}


def _hold(site: Site, nodes: Sequence[Node], action: str) -> None:
    """Drain nodes with problems, such as new ones that failed their checks."""
    if site.scheduler is None or not nodes:
        return
    hosts = {host for host, node in site.in_scheduler(nodes).items() if not node.is_drained}
    site.scheduler.drain(hosts, site.reason(action, "not healthy"))


def _within(patience: Patience, seconds: float) -> Patience:
    return Patience(min(patience.timeout_s, seconds), patience.sleep, patience.now)
