"""Check that existing file systems can be mounted, and that none was left by an earlier deployment by mistake."""

from collections.abc import Iterator

from cli import leftovers
from cli.aws_errors import unless_absent
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, skipped, together, warning
from cli.preflight.ports import LUSTRE_PORTS, NFS_PORTS, ports
from config.storage import ExistingFileSystem

LASTING = ("PERSISTENT_1", "PERSISTENT_2")
COMING = ("CREATING", "UPDATING")
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html: it can recover, and may mount.
RECOVERABLE = "MISCONFIGURED"
DNS_NAME = "`aws fsx describe-file-systems` shows it"


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
