"""Check service quotas, found by name: of instances, of the network, of file systems and of EKS."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from botocore.exceptions import ClientError

from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, Outcome, error, is_denied, not_answered, ok, one_by_one, skipped, warning
from cli.preflight.cluster import instances, other_clusters, own_groups, running
from cluster_request.effective_request import Group
from config.instance_types import instance_type
from config.network import InternetAccess

# Names as in Service Quotas; for their meaning, see
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
OF_A_TYPE = {False: "{} for cluster usage", True: "{} for cluster spot instance usage"}
OF_ALL = {
    False: "Total number of instances allowed across SageMaker HyperPod clusters",
    True: "Total number of Spot instances allowed across SageMaker HyperPod clusters",
}
OF_A_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
OF_A_VOLUME = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
VPCS = "VPCs per Region"
GATEWAYS = "Internet gateways per Region"
NAT_GATEWAYS = "NAT gateways per Availability Zone"
INTERFACES = "Network interfaces per Region"
# https://docs.aws.amazon.com/general/latest/gr/ec2-service.html
ADDRESSES = "EC2-VPC Elastic IPs"
STANDING = ("available", "pending")
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html; spelt as Service Quotas spells them.
CAPACITY = {each: f"Lustre {each.capitalize()} storage capacity" for each in ("PERSISTENT_1", "PERSISTENT_2")}
SSD = "SSD"
COUNT = {each: f"Lustre {each.capitalize()} file systems" for each in CAPACITY}
# https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
CLUSTERS = "Clusters"

Doubt = Callable[[Group], bool]
MIXED: tuple[str, Doubt] = ("a group may get only nodes of other types", lambda group: len(group.types) > 1)
PLANNED: tuple[str, Doubt] = (
    "AWS does not say whether a training plan's instances count",
    lambda group: bool(group.training_plan),
)


class Quotas:
    """The quotas of a service; AWS's defaults are read once a name has no value in the account."""

    def __init__(self, account: Account, service: str) -> None:
        self._account, self._service = account, service
        self._applied = self._listed("list_service_quotas")

    @cached_property
    def _defaults(self) -> dict[str, Json]:
        return self._listed("list_aws_default_service_quotas")

    def _listed(self, operation: str) -> dict[str, Json]:
        """Return the quotas with a value; one that could not be read has an ErrorReason instead."""
        listed = self._account.all("service-quotas", operation, "Quotas", ServiceCode=self._service)
        return {each["QuotaName"]: each for each in listed if "Value" in each}

    def judged(self, name: str, *, asked: float, used: float | None, unit: str = "", of_others: bool = False) -> CheckResult:
        """Check that the quota has room beside current use, or that of others; None is unknown use."""
        page = f"{self._account.console}/servicequotas/home/services/{self._service}"
        quota = self._applied.get(name) or self._defaults.get(name)
        if quota is None:
            return warning(f"{name}: Service Quotas has no quota with this name", "check the quotas in the console", page)
        default = "" if name in self._applied else " (AWS's default)"
        in_use = f"{'unknown' if used is None else f'{used:,.0f}'} in use{' by others' if of_others else ''}"
        message = f"{name}: {quota['Value']:,.0f}{unit}{default}, {in_use}, {asked:,.0f} requested"
        total = (used or 0) + asked
        if total <= quota["Value"]:
            return ok(message)
        fix = f"request {total:,.0f} or more, which can take days, or reduce the file"
        if not quota.get("Adjustable", True):
            fix = "this quota cannot be increased: delete some, or use another account or region"
        return error(message, fix, f"{page}/quotas/{quota['QuotaCode']}")


def instance_quotas(account: Account) -> Iterator[CheckResult]:
    """Check the quotas for each type and in total, with the instances of other clusters."""
    quotas = Quotas(account, "sagemaker")
    wanted = account.request.all_groups
    others: list[Json] | None = None
    try:
        others = other_clusters(account)
    except ClientError as failure:
        if not is_denied(failure):
            raise
        yield not_answered(failure)
    for spot in (False, True):
        mine = tuple(group for group in wanted if group.is_spot is spot)
        if mine:
            yield from _of_kind(quotas, mine, None if others is None else instances(others, spot=spot), spot=spot)
    yield quotas.judged(OF_A_CLUSTER, asked=sum(group.count for group in wanted), used=0)
    volumes = (volume.member("VolumeSizeInGB").number for group in wanted for volume in group.volumes)
    sizes = [size for size in volumes if size is not None]
    if sizes:
        yield quotas.judged(OF_A_VOLUME, asked=max(sizes), used=0)


def _of_kind(quotas: Quotas, wanted: tuple[Group, ...], used: Counter[str] | None, *, spot: bool) -> Iterator[CheckResult]:
    """Check each type and the total; ``used`` is None if the caller may not list clusters."""
    for name in sorted({name for group in wanted for name in group.types}):
        takers = [group for group in wanted if name in group.types]
        yield _judged(quotas, OF_A_TYPE[spot].format(name), takers, None if used is None else used[name], (MIXED, PLANNED))
    yield _judged(quotas, OF_ALL[spot], wanted, None if used is None else used.total(), (PLANNED,))


def _judged(
    quotas: Quotas, name: str, takers: Sequence[Group], used: float | None, doubts: Sequence[tuple[str, Doubt]]
) -> CheckResult:
    """Check the quota for these groups; only warn if it suffices for those that certainly count against it."""
    judged = quotas.judged(name, asked=sum(group.count for group in takers), used=used, of_others=True)
    reasons = [why for why, holds in doubts if any(holds(group) for group in takers)]
    if judged.outcome is not Outcome.ERROR or not reasons:
        return judged
    certain = sum(group.count for group in takers if not any(holds(group) for _, holds in doubts))
    if certain and quotas.judged(name, asked=certain, used=used, of_others=True).outcome is Outcome.ERROR:
        return judged
    return warning(f"{judged.message} ({'; '.join(reasons)})", judged.fix, judged.link)


def network_quotas(account: Account) -> Iterator[CheckResult]:
    """Check VPCs, gateways and addresses of a new network, and interfaces of any."""
    existing = account.config.network.existing
    quotas = Quotas(account, "vpc")
    parts = [_interfaces(account, quotas)]
    if "Network" in account.stacks:
        yield skipped("the network already exists")
    else:
        if existing is None or existing.internet_access is InternetAccess.CREATE:
            gateways = _one_more(account, quotas, GATEWAYS, "describe_internet_gateways", "InternetGateways")
            parts = [gateways, _nat_gateways(account, quotas), _addresses(account), *parts]
        if existing is None:
            parts = [_one_more(account, quotas, VPCS, "describe_vpcs", "Vpcs"), *parts]
    yield from one_by_one(account, *parts)


def _one_more(account: Account, quotas: Quotas, name: str, operation: str, items: str) -> Iterator[CheckResult]:
    yield quotas.judged(name, asked=1, used=_count(account, operation, items))


def _addresses(account: Account) -> Iterator[CheckResult]:
    used = len(account.client("ec2").describe_addresses()["Addresses"])
    yield Quotas(account, "ec2").judged(ADDRESSES, asked=1, used=used)


def _interfaces(account: Account, quotas: Quotas) -> Iterator[CheckResult]:
    used = _count(account, "describe_network_interfaces", "NetworkInterfaces")
    yield quotas.judged(INTERFACES, asked=_more_interfaces(account), used=used)


def _count(account: Account, operation: str, items: str) -> int:
    return sum(1 for _ in account.all("ec2", operation, items))


def _nat_gateways(account: Account, quotas: Quotas) -> Iterator[CheckResult]:
    """Return the number of gateways in the nodes' zone: the quota is per zone."""
    zone = {"Name": "availability-zone-id", "Values": [account.config.network.availability_zone_id]}
    here = {each["SubnetId"] for each in account.all("ec2", "describe_subnets", "Subnets", Filters=[zone])}
    listed = account.all("ec2", "describe_nat_gateways", "NatGateways")
    used = sum(each["State"] in STANDING and each.get("SubnetId") in here for each in listed)
    yield quotas.judged(NAT_GATEWAYS, asked=1, used=used)


def _more_interfaces(account: Account) -> int:
    """Return the interfaces needed beyond those of the file's own cluster; an unknown type counts as one."""
    asked = sum(group.count * max(map(_of_node, group.types)) for group in account.request.all_groups)
    held = sum(count * _of_node(name) for group in own_groups(account) for name, count in running(group).items())
    file_systems = 0 if "Storage" in account.stacks else len(account.config.storage.created_file_systems)
    return max(0, asked - held) + file_systems


def _of_node(name: str) -> int:
    known = instance_type(name)
    return known.network_cards if known else 1


def storage_quotas(account: Account) -> Iterator[CheckResult]:
    """Check the number and the capacity of Lustre file systems of the type."""
    lustre = account.config.storage.lustre
    if lustre is None:
        yield skipped("the deployment creates no file system")
        return
    own, kind = account.output("FileSystemId"), lustre.deployment_type.value
    listed = account.all("fsx", "describe_file_systems", "FileSystems")
    others = [
        each
        for each in listed
        if each["FileSystemType"] == "LUSTRE"
        and each["LustreConfiguration"]["DeploymentType"] == kind
        and each["FileSystemId"] != own
        and each["Lifecycle"] != "DELETING"
    ]
    quotas = Quotas(account, "fsx")
    yield quotas.judged(COUNT[kind], asked=1, used=len(others), of_others=True)
    # HDD and Intelligent-Tiering have separate quotas.
    used = sum(each.get("StorageCapacity", 0) for each in others if each.get("StorageType", SSD) == SSD)
    yield quotas.judged(CAPACITY[kind], asked=lustre.storage_capacity_gib, used=used, unit=" GiB", of_others=True)


def eks_quotas(account: Account) -> Iterator[CheckResult]:
    """Check that the region has room for a new EKS cluster."""
    eks = account.config.eks
    if eks is None or eks.existing or "Kubernetes" in account.stacks:
        yield skipped("the cluster uses Slurm" if eks is None else "the EKS cluster exists")
        return
    used = sum(1 for _ in account.all("eks", "list_clusters", "clusters"))
    yield Quotas(account, "eks").judged(CLUSTERS, asked=1, used=used)
