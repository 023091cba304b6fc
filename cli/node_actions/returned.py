"""Wait for nodes after HyperPod began to replace, reboot or delete them."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from cli.node_actions.patience import Patience
from cli.node_actions.site import Site
from cli.node_directory import Node
from cli.remote.sessions import SessionError
from cli.remote.shell import in_parallel
from cli.result import Json

# A boot has its own id; a container's first process has its own start time.
BOOT = "cat /proc/sys/kernel/random/boot_id; cut -d' ' -f22 /proc/1/stat"
BOOT_TIMEOUT_S = 20.0
WITHOUT_SHELL_S = 120.0  # after which a node that was never seen to leave is taken to be back


@dataclass
class Seen:
    """The last look at the cluster: its status, and HyperPod's summaries of its nodes by instance id."""

    site: Site
    status: str = ""
    failure: str = ""
    nodes: dict[str, Json] = field(default_factory=dict)
    line: str = ""

    def look(self) -> None:
        """Read the cluster and its nodes."""
        cluster = self.site.sagemaker.describe_cluster(ClusterName=self.site.cluster)
        self.status, self.failure = cluster["ClusterStatus"], cluster.get("FailureMessage") or ""
        self.nodes = {node["InstanceId"]: node for node in self.site.deployment.nodes(self.site.cluster)}

    def status_of(self, instance: str) -> str:
        """Return the status of a node; empty if it is gone."""
        return str(self.nodes[instance]["InstanceStatus"]["Status"]) if instance in self.nodes else ""

    def show(self, line: str) -> None:
        """Show the line unless it is the last one."""
        if line != self.line:
            self.line = line
            self.site.show(line)


def replacements(site: Site, gone: Sequence[Node], known: Set[str], patience: Patience) -> tuple[dict[str, str], dict[str, str]]:
    """Wait for new nodes besides the ``known``; return new ids by old id, and the problem of each node without a new one."""
    seen, busy = Seen(site), False

    def done() -> bool:
        nonlocal busy
        seen.look()
        old = sum(node.instance in seen.nodes for node in gone)
        running = sum(seen.status_of(instance) == "Running" for instance in seen.nodes.keys() - known)
        seen.show(f"{len(gone) - old} of {len(gone)} nodes gone, {running} of {len(gone)} new nodes Running")
        ended = busy and seen.status in ("InService", "Failed") and bool(seen.failure) and not old
        busy = busy or seen.status not in ("InService", "Failed")
        return (not old and running >= len(gone) and seen.status == "InService") or ended

    patience.until(done)
    return _paired(gone, seen, known, patience.span)


def _paired(gone: Sequence[Node], seen: Seen, known: Set[str], span: str) -> tuple[dict[str, str], dict[str, str]]:
    """Pair each old node with a new one of its group that is Running."""
    new = [instance for instance in seen.nodes if instance not in known]
    pairs: dict[str, str] = {}
    problems: dict[str, str] = {}
    for node in gone:
        of_group = [instance for instance in new if seen.nodes[instance]["InstanceGroupName"] == node.group]
        match = next((instance for instance in of_group if seen.status_of(instance) == "Running"), None)
        if match:
            new.remove(match)
            pairs[node.instance] = match
        else:
            states = Counter(map(seen.status_of, of_group))
            now = ", ".join(f"{count} {status}" for status, count in states.items()) or "none"
            why = seen.failure if seen.failure and seen.status != "Updating" else f"not Running after {span}"
            problems[node.instance] = f"no new node: {why} (new nodes: {now})"
    return pairs, problems


def boots(site: Site, nodes: Sequence[Node]) -> dict[str, str]:
    """Return an identifier of the present boot of each node that can be reached, by instance id."""
    known = site.scheduler.boots() if site.scheduler else None
    if known is not None:
        return {node.instance: known[node.host] for node in nodes if node.host in known}
    shell = site.shell
    if shell is None:
        return {}

    def boot(node: Node) -> str:
        try:
            output = shell.run(node.target, BOOT, BOOT_TIMEOUT_S)
        except SessionError:
            return ""
        return output.text.strip() if output.status == 0 else ""

    found = dict(zip((node.instance for node in nodes), in_parallel(boot, nodes), strict=True))
    return {instance: boot for instance, boot in found.items() if boot}


def rebooted(site: Site, nodes: Sequence[Node], before: dict[str, str], patience: Patience) -> dict[str, str]:
    """Wait until the nodes have booted again; return the problem of each that has not."""
    seen, left = Seen(site), {node.instance: node for node in nodes}
    started, away = patience.now(), set[str]()

    def done() -> bool:
        seen.look()
        running = [node for node in left.values() if seen.status_of(node.instance) == "Running"]
        away.update(left.keys() - {node.instance for node in running})
        now = boots(site, [node for node in running if node.instance in before])
        for node in running:
            waited = patience.now() - started > WITHOUT_SHELL_S
            is_new = now.get(node.instance) not in (None, before.get(node.instance))
            if is_new or (node.instance not in before and (node.instance in away or waited)):
                del left[node.instance]
        seen.show(f"{len(nodes) - len(left)} of {len(nodes)} nodes rebooted")
        return not left

    patience.until(done)
    return {instance: f"not back after {patience.span}: {seen.status_of(instance) or 'gone'}" for instance in left}


def deleted(site: Site, nodes: Sequence[Node], patience: Patience) -> dict[str, str]:
    """Wait until the nodes are gone; return the problem of each that is not."""
    seen, left = Seen(site), set[str]()

    def done() -> bool:
        seen.look()
        left.clear()
        left.update(node.instance for node in nodes if node.instance in seen.nodes)
        seen.show(f"{len(nodes) - len(left)} of {len(nodes)} nodes gone")
        return not left and seen.status in ("InService", "Failed")

    patience.until(done)
    return {instance: f"not gone after {patience.span}: {seen.status_of(instance)}" for instance in left}
