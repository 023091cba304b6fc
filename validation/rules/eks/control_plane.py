"""Check the EKS cluster: version, networks, access to the API server and logs."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from cluster_request.eks_addons import minor, newest_version, versions
from config.arns import in_another_region
from config.eks import EksConfig, EndpointAccess
from config.errors import ABSENT, Level, Path, Problem
from config.model import ClusterConfig, eks_of
from config.network import InternetAccess
from config.section import Removal
from config.suggestions import either
from config.zones import UNSUPPORTED_BY_EKS, control_plane_zones, region_of_zone, regions, zone_fix
from validation.rules.common.network import PRIVATE, retention_problems
from validation.rules.registry import eks_rule

RELEASES_AHEAD = 4
SMALLEST_PREFIX, LARGEST_PREFIX = 28, 16
# https://docs.aws.amazon.com/eks/latest/userguide/config-cluster-endpoint.html
NOT_PUBLIC = (*PRIVATE, IPv4Network("100.64.0.0/10"))
# Fields that only describe the creation of an EKS cluster.
OF_CREATION = ("control_plane_cidrs", "control_plane_zone_ids", "control_plane_subnet_ids", "logs", "log_retention_days",
               "secrets_key_arn", "removal")  # fmt: skip
OF_NEW_SUBNETS = ("control_plane_cidrs", "control_plane_zone_ids")
CIDRS: Path = ("eks", "control_plane_cidrs")
ZONES: Path = ("eks", "control_plane_zone_ids")
SUBNETS: Path = ("eks", "control_plane_subnet_ids")


def _created(config: ClusterConfig) -> EksConfig | None:
    """Return the section of an EKS cluster that the deployment creates."""
    return config.eks if config.creates_eks_cluster else None


def _created_with_subnets(config: ClusterConfig) -> EksConfig | None:
    """Return the section of an EKS cluster that the deployment creates in new subnets."""
    eks = _created(config)
    return None if eks is None or eks.control_plane_subnet_ids else eks


@eks_rule("kubernetes-version", "eks.version", "eks.existing")
def kubernetes_version(config: ClusterConfig) -> Iterator[Problem]:
    """A new EKS cluster requires a `version` that EKS still supports; `existing` excludes it.

    EKS creates no cluster of an older version, and a deployment does not upgrade an existing one.
    """
    eks = eks_of(config)
    version, path = eks.version, ("eks", "version")
    newest = newest_version()
    if eks.existing and version is not None:
        yield Problem(path, version, "has no effect on an existing EKS cluster", "remove it, and upgrade that cluster itself")
    elif not eks.existing and version is None:
        yield Problem(path, ABSENT, "required for a new EKS cluster", f'add e.g. `version: "{newest}"`, or `existing`')
    elif version is not None and version not in versions() and not _may_be_new(version):
        is_newer = minor(version) > minor(newest)
        what = f"HyperPod supports Kubernetes up to {newest}" if is_newer else "EKS no longer supports this Kubernetes version"
        known = sorted(versions(), key=minor, reverse=True)
        yield Problem(path, version, what, f"use {either(known)}")


def _may_be_new(version: str) -> bool:
    """Return whether EKS may have released the version after this project; a larger number is probably a typing error."""
    return 0 < minor(version) - minor(newest_version()) <= RELEASES_AHEAD


@eks_rule("newer-kubernetes-version", "eks.version", "eks.existing", level=Level.WARNING)
def newer_kubernetes_version(config: ClusterConfig) -> Iterator[Problem]:
    """The Kubernetes version should be one that HyperPod is known to support.

    A version newer than this release deploys if EKS offers it. EKS chooses the versions of its add-ons, and HyperPod's nodes may
    not join.
    """
    version, newest = eks_of(config).version, newest_version()
    if version and not eks_of(config).existing and _may_be_new(version):
        message = f"HyperPod is known to support up to {newest}"
        yield Problem(("eks", "version"), version, message, f"use {newest}, or suppress this warning if it supports this one")


@eks_rule("existing-eks-network", "eks.existing", "network.existing")
def existing_eks_network(config: ClusterConfig) -> Iterator[Problem]:
    """`eks.existing` requires `network.existing`.

    HyperPod creates nodes only in the VPC of the EKS cluster.
    """
    if config.eks and config.eks.existing and config.network.existing is None:
        fix = "add the VPC of that EKS cluster, with the nodes' subnets and security group"
        yield Problem(("network", "existing"), ABSENT, "required by `eks.existing`", fix)


@eks_rule("unused-eks-fields", "eks")
def unused_eks_fields(config: ClusterConfig) -> Iterator[Problem]:
    """Fields about the creation of an EKS cluster or of its subnets must not be set for existing ones.

    They would have no effect.
    """
    eks = eks_of(config)
    unused: tuple[str, ...] = OF_CREATION if eks.existing else OF_NEW_SUBNETS if eks.control_plane_subnet_ids else ()
    reason = "an existing EKS cluster" if eks.existing else "a cluster with `control_plane_subnet_ids`"
    for name in unused:
        if name in eks.model_fields_set and getattr(eks, name) is not None:
            yield Problem(("eks", name), ABSENT, f"has no effect on {reason}", "remove it")
    if eks.helm_chart and "nvidia_device_plugin" in eks.model_fields_set:
        fix = "set nvidia-device-plugin.devicePlugin.enabled in its values"
        yield Problem(("eks", "nvidia_device_plugin"), eks.nvidia_device_plugin, "has no effect with `helm_chart`", fix)


@eks_rule("control-plane-subnets", "eks.existing", "eks.control_plane_subnet_ids", "eks.control_plane_cidrs", "network.existing")
def control_plane_subnets(config: ClusterConfig) -> Iterator[Problem]:
    """A new EKS cluster in an existing VPC requires `control_plane_subnet_ids`, or `control_plane_cidrs` for new subnets.

    EKS requires subnets in two availability zones. Existing ones may also be subnets of the nodes.
    """
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    if (eks := _created(config)) is None:
        return
    given = eks.control_plane_subnet_ids
    if config.network.existing is None and given:
        yield Problem(SUBNETS, ABSENT, "the deployment creates subnets in its own VPC", "remove it, or add `network.existing`")
    elif config.network.existing and not given:
        if "control_plane_cidrs" not in eks.model_fields_set:
            ways = "subnets of this VPC in two availability zones, or `control_plane_cidrs` with two free ranges for new subnets"
            yield Problem(SUBNETS, ABSENT, "required with `network.existing`", f"add {ways}")
    elif config.network.existing and len(set(given)) < 2:
        yield Problem(SUBNETS, list(given), "EKS requires subnets in two availability zones", "add another subnet")
    elif len(set(given)) != len(given):
        yield Problem(SUBNETS, list(given), "has a duplicate subnet", "list each subnet once")


@eks_rule("control-plane-cidrs", "eks.existing", "eks.control_plane_cidrs", "network")
def control_plane_cidrs(config: ClusterConfig) -> Iterator[Problem]:
    """`control_plane_cidrs` must be ranges of /16 to /28 inside `vpc_cidr`, without overlap with each other or other subnets.

    EC2 rejects other ranges, and the deployment rolls back.
    """
    if (eks := _created_with_subnets(config)) is None:
        return
    network, others = config.network, _other_subnets(config)
    knows_vpc = network.existing is None or "vpc_cidr" in network.model_fields_set
    for index, cidr in enumerate(eks.control_plane_cidrs):
        overlapped = [f"{name} {other}" for name, other in others.items() if cidr.overlaps(other)]
        if not LARGEST_PREFIX <= cidr.prefixlen <= SMALLEST_PREFIX:
            problem = "must be between /16 and /28"
        elif knows_vpc and not cidr.subnet_of(network.vpc_cidr):
            problem = f"must be inside vpc_cidr {network.vpc_cidr}"
        elif overlapped:
            problem = f"overlaps {overlapped[0]}"
        elif index and cidr.overlaps(eks.control_plane_cidrs[0]):
            problem = f"overlaps {eks.control_plane_cidrs[0]}"
        else:
            continue
        fix = _range_fix(config) if knows_vpc else "use another free range in the VPC"
        yield Problem((*CIDRS, index), str(cidr), problem, fix)


def _range_fix(config: ClusterConfig) -> str:
    free = _free_range(config)
    return f"use e.g. {free}" if free else "use a larger vpc_cidr"


def _other_subnets(config: ClusterConfig) -> dict[str, IPv4Network]:
    """Return the ranges of the other subnets that the deployment creates, by field."""
    network = config.network
    if network.existing is None:
        return {"public_subnet_cidr": network.public_subnet_cidr, "node_cidr": network.node_cidr}
    opens = network.existing.internet_access is InternetAccess.CREATE
    return {"public_subnet_cidr": network.public_subnet_cidr} if opens else {}


def _free_range(config: ClusterConfig) -> IPv4Network | None:
    """Return a range in the VPC that no subnet of the file has."""
    network, eks = config.network, config.eks
    used = [*_other_subnets(config).values(), *(eks.control_plane_cidrs if eks else ())]
    if network.vpc_cidr.prefixlen > SMALLEST_PREFIX:
        return None
    return next(
        (each for each in network.vpc_cidr.subnets(new_prefix=SMALLEST_PREFIX) if not any(map(each.overlaps, used))), None
    )


@eks_rule("control-plane-zones", "eks.existing", "eks.control_plane_zone_ids", "network", "region")
def zones_of_control_plane(config: ClusterConfig) -> Iterator[Problem]:
    """The control plane requires two availability zones of the region that EKS supports.

    EKS rejects subnets in one zone, and in use1-az3, usw1-az2 and cac1-az3.
    """
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    if (eks := _created_with_subnets(config)) is None:
        return
    node_zone = config.network.availability_zone_id
    home = config.region if config.region in regions() else region_of_zone(node_zone)
    given = eks.control_plane_zone_ids
    if given is None:
        if not control_plane_zones(node_zone):
            fix = "add two ids from `aws ec2 describe-availability-zones`"
            yield Problem(ZONES, ABSENT, "required, because the zones of the region are unknown", fix)
        return
    for index, zone in enumerate(given):
        if zone in UNSUPPORTED_BY_EKS:
            yield Problem((*ZONES, index), zone, "EKS does not support this zone", "use another zone of the region")
        elif home and region_of_zone(zone) not in (None, home):
            yield Problem((*ZONES, index), zone, f"is in {region_of_zone(zone)}, not in {home}", zone_fix(zone, home))
    if len(set(given)) == 1:
        yield Problem(ZONES, list(given), "EKS requires two different availability zones", "replace one")


@eks_rule("public-access-cidrs", "eks.endpoint_access", "eks.public_access_cidrs")
def public_access_cidrs(config: ClusterConfig) -> Iterator[Problem]:
    """`public_access_cidrs` requires public access, and ranges of the internet, each once.

    EKS rejects private ranges: traffic from inside the VPC uses the private endpoint.
    """
    # https://docs.aws.amazon.com/eks/latest/userguide/config-cluster-endpoint.html
    eks = eks_of(config)
    path: Path = ("eks", "public_access_cidrs")
    given = eks.public_access_cidrs
    if given and eks.endpoint_access is EndpointAccess.PRIVATE:
        yield Problem(path, ABSENT, "has no effect with `endpoint_access: private`", "remove it")
        return
    for index, cidr in enumerate(given):
        if any(cidr.subnet_of(private) for private in NOT_PUBLIC):
            yield Problem((*path, index), str(cidr), "is a private range, which EKS rejects", "use addresses in the internet")
        elif cidr in given[:index]:
            yield Problem((*path, index), str(cidr), "duplicate range", "list each range once")


@eks_rule("control-plane-log-retention", "eks.log_retention_days")
def control_plane_log_retention(config: ClusterConfig) -> Iterator[Problem]:
    """`eks.log_retention_days` must be a retention period that CloudWatch Logs supports.

    CloudWatch Logs rejects other values, and the deployment rolls back.
    """
    yield from retention_problems(("eks", "log_retention_days"), eks_of(config).log_retention_days)


@eks_rule("control-plane-logs", "eks.logs")
def control_plane_logs(config: ClusterConfig) -> Iterator[Problem]:
    """`eks.logs` must list each log once.

    EKS rejects duplicates, and the deployment rolls back.
    """
    logs = [log.value for log in eks_of(config).logs]
    if len(set(logs)) != len(logs):
        yield Problem(("eks", "logs"), logs, "has duplicate logs", "list each log once")


@eks_rule("secrets-key-region", "eks.secrets_key_arn", "region")
def secrets_key_region(config: ClusterConfig) -> Iterator[Problem]:
    """The KMS key of Kubernetes secrets must be in the cluster's region.

    EKS uses only keys in its own region.
    """
    key = eks_of(config).secrets_key_arn
    if key and (where := in_another_region(key, config)):
        yield Problem(("eks", "secrets_key_arn"), key, where, f"use a key in {config.region}")


@eks_rule("retain-eks-cluster", "removal", "eks.existing", "eks.removal")
def retain_eks_cluster(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with `removal: retain` requires `eks.removal: retain` for a new EKS cluster.

    Otherwise the nodes keep running, at cost, without a control plane.
    """
    eks = eks_of(config)
    if config.removal is Removal.RETAIN and config.creates_eks_cluster and eks.removal is Removal.DESTROY:
        value = eks.removal.value if "removal" in eks.model_fields_set else ABSENT
        message = "nodes of a cluster with `removal: retain` require the EKS cluster"
        yield Problem(("eks", "removal"), value, message, "set `eks.removal: retain`, or destroy both")
