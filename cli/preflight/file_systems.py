"""Check that nodes can mount existing file systems, and that no earlier deployment left one."""

from collections.abc import Iterator
from typing import Any

from cli import leftovers
from cli.aws_errors import unless_absent
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, skipped, together, warning
from cli.preflight.vpc_parts import Rule, admits, names_a_list, ranges_of, security_group
from config.storage import ExistingFileSystem

LASTING = ("PERSISTENT_1", "PERSISTENT_2")
COMING = ("CREATING", "UPDATING")
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html: it can recover, and may mount.
RECOVERABLE = "MISCONFIGURED"
DNS_NAME = "`aws fsx describe-file-systems` shows it"
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
LUSTRE_PORTS = (988, *range(1018, 1024))
# NFS's own: nodes mount by version 4.2 (lifecycle_assets/hyperpod_node/steps/file_systems.py), which needs no port mapper.
NFS_PORTS = (2049,)

Nodes = tuple[tuple[str, ...], tuple[str, ...]]
"""Security groups and subnets that nodes share."""


def file_systems(account: Account) -> Iterator[CheckResult]:
    """Check kind, state, network and open ports of imported file systems."""
    storage = account.config.storage
    if storage.existing is None and storage.openzfs is None:
        yield skipped("the file names no existing file system")
    if storage.existing is not None:
        yield from _lustre(account, storage.existing)
    if storage.openzfs is not None:
        yield from _openzfs(account, storage.openzfs.dns_name)


def _lustre(account: Account, wanted: ExistingFileSystem) -> Iterator[CheckResult]:
    found = _described(account, wanted.file_system_id)
    if found is None:
        yield error(f"no file system {wanted.file_system_id} in {account.region}", "correct the id or `region`")
        return
    if found["FileSystemType"] != "LUSTRE":
        yield error(f"{wanted.file_system_id} is of type {found['FileSystemType']}, not LUSTRE", "name a Lustre file system")
        return
    yield from together(
        account,
        _state(found),
        _kind(found, wanted),
        _reach(account, found, is_strict=wanted.efa),
        ports(account, found, LUSTRE_PORTS),
        well=f"{wanted.file_system_id} exists, has mount name {wanted.mount_name} and accepts the nodes",
    )


def _openzfs(account: Account, dns_name: str) -> Iterator[CheckResult]:
    found = _described(account, dns_name.partition(".")[0])
    if found is None or found["FileSystemType"] != "OPENZFS":
        what = "no such file system" if found is None else f"it is of type {found['FileSystemType']}"
        yield error(f"{dns_name}: {what} in {account.region}", f"set the DNS name of an OpenZFS file system: {DNS_NAME}")
        return
    other = f"{found['FileSystemId']} has the DNS name {found['DNSName']}, not {dns_name}"
    named = [] if found["DNSName"] == dns_name else [error(other, f"set `storage.openzfs.dns_name` to {found['DNSName']}")]
    yield from together(
        account,
        _state(found),
        named,
        _reach(account, found, is_strict=False),
        ports(account, found, NFS_PORTS),
        well=f"{found['FileSystemId']} (OpenZFS) exists and accepts the nodes",
    )


def _described(account: Account, file_system_id: str) -> Json | None:
    fsx = account.client("fsx")
    found: Json | None = unless_absent(lambda: fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"][0])
    return found


def _state(found: Json) -> Iterator[CheckResult]:
    name, state = found["FileSystemId"], found["Lifecycle"]
    if state in COMING:
        yield warning(f"{name} is {state}", "wait until it is AVAILABLE, because nodes fail if they cannot mount it")
    elif state != "AVAILABLE":
        why = (found.get("FailureDetails") or {}).get("Message", "")
        make = warning if state == RECOVERABLE else error
        yield make(f"{name} is {state}{': ' if why else ''}{why}", "repair it, or use another")


def _kind(found: Json, wanted: ExistingFileSystem) -> Iterator[CheckResult]:
    name, lustre = found["FileSystemId"], found["LustreConfiguration"]
    if lustre.get("MountName") != wanted.mount_name:
        message = f"{name} has the mount name {lustre.get('MountName')}, not {wanted.mount_name}"
        yield error(message, f"set `storage.existing.mount_name: {lustre.get('MountName')}`")
    if lustre.get("DeploymentType") not in LASTING:
        yield warning(
            f"{name} is {lustre.get('DeploymentType')}, which loses data if a server fails", "keep copies of its data elsewhere"
        )
    if wanted.efa and not lustre.get("EfaEnabled"):
        yield error(f"{name} is not EFA-enabled", "set `storage.existing.efa: false`; EFA cannot be enabled later")


def _reach(account: Account, found: Json, *, is_strict: bool) -> Iterator[CheckResult]:
    """Check that the file system is in the nodes' VPC and zone; EFA requires the zone."""
    name, existing = found["FileSystemId"], account.config.network.existing
    vpc = existing.vpc_id if existing else account.output("VpcId")
    if found["VpcId"] != vpc:
        message = f"{name} is in {found['VpcId']}, and the nodes are in {vpc or 'a new VPC'}"
        if vpc and not is_strict:
            yield warning(message, "check that the VPCs are connected (peering, transit gateway) and that names resolve in both")
        else:
            yield error(message, f"set `network.existing.vpc_id: {found['VpcId']}`, or use a file system in the nodes' VPC")
    [subnet, *_] = account.client("ec2").describe_subnets(SubnetIds=found["SubnetIds"][:1])["Subnets"]
    zone = account.config.network.availability_zone_id
    if subnet["AvailabilityZoneId"] != zone:
        message = f"{name} is in {subnet['AvailabilityZoneId']}, and the nodes are in {zone}"
        make = error if is_strict else warning
        yield make(message, "use one zone for both: traffic between zones is slower, charged, and without EFA")


def kept_file_systems(account: Account) -> Iterator[CheckResult]:
    """Warn about file systems that an earlier deployment of this cluster left, if the file creates a new one."""
    config = account.config
    if not config.storage.created_file_systems:
        yield skipped("the deployment creates no file system")
        return
    if "Storage" in account.stacks:
        yield skipped("the file system is deployed")
        return
    kept = leftovers.file_systems(account.client("fsx"), config.name)
    if not kept:
        yield ok("no file system of an earlier deployment")
    for each in kept:
        message = f"an earlier deployment left {leftovers.described(each)}; this one creates a new, empty file system"
        yield warning(message, f"`{account.hpod('retained')}` prints the sections that use it again; otherwise delete it")


def ports(account: Account, found: Json, wanted: tuple[int, ...]) -> Iterator[CheckResult]:
    """Yield the ports that the interfaces do not accept from the nodes' security groups or subnets."""
    name, shared = found["FileSystemId"], _shared(account)
    if not shared[0]:
        yield warning(
            f"{name}: unknown until the deployment creates the nodes' security group",
            f"allow TCP {_listed(wanted)} from {account.config.network.node_cidr}, or set `network.existing`",
        )
    if not found.get("NetworkInterfaceIds"):
        yield _unseen(name, "whose interfaces are not listed", wanted)
        return
    rules = [rule for each in _groups_of(account, found) for rule in each["IpPermissions"]]
    for nodes in dict.fromkeys([shared, *_own(account, shared)]):
        yield from _closed(account, name, rules, nodes, wanted)


def _closed(account: Account, name: str, rules: list[Rule], nodes: Nodes, wanted: tuple[int, ...]) -> Iterator[CheckResult]:
    """Yield the closed ports for these nodes; a warning has covered nodes in new security groups."""
    security_groups, ranges = nodes[0], ranges_of(account, nodes[1])
    closed = tuple(port for port in wanted if not admits(rules, port, groups=security_groups, ranges=ranges))
    if not closed or not security_groups:
        return
    if all(names_a_list(rules, port) for port in closed):
        yield _unseen(name, "whose rules name a prefix list", closed)
        return
    yield error(
        f"{name} does not accept the nodes ({', '.join(security_groups)}) on TCP {_listed(closed)}",
        f"allow TCP {_listed(wanted)} from them in the file system's security groups",
    )


def _unseen(name: str, why: str, wanted: tuple[int, ...]) -> CheckResult:
    return warning(
        f"{name}, {why}: unknown whether it accepts the nodes on TCP {_listed(wanted)}",
        "check this in the account that owns the network",
    )


def _shared(account: Account) -> Nodes:
    """Return the network of most nodes."""
    made = account.output("SecurityGroupId")
    return account.request.node_security_groups or ((made,) if made else ()), account.request.node_subnets


def _own(account: Account, shared: Nodes) -> Iterator[Nodes]:
    """Yield the networks of groups that have their own."""
    for group in account.request.all_groups:
        if group.has_own_network:
            yield group.security_groups or shared[0], group.subnets or shared[1]


def _groups_of(account: Account, found: Json) -> list[dict[str, Any]]:
    """Return the security groups of the file system's interfaces, which all have the same."""
    ids = found["NetworkInterfaceIds"][:1]
    interfaces = account.client("ec2").describe_network_interfaces(NetworkInterfaceIds=ids)["NetworkInterfaces"]
    named = dict.fromkeys(group["GroupId"] for each in interfaces for group in each["Groups"])
    return [group for group in (security_group(account, each) for each in named) if group]


def _listed(wanted: tuple[int, ...]) -> str:
    return "988 and 1018-1023" if wanted == LUSTRE_PORTS else ", ".join(map(str, wanted))
