"""Check the EKS cluster: an existing one as HyperPod requires it, or a new one's name, version and quota."""

from collections.abc import Iterator
from datetime import UTC, datetime

from cli.aws_errors import unless_absent
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, skipped, together, warning
from cli.preflight.cluster import other_clusters
from cli.preflight.control_plane import kept_settings
from cluster_request.eks_addons import minor, newest_version
from config.eks import EksConfig, ExistingEks
from config.operation_names import eks_log_group

NONE = "the cluster uses Slurm"
ACCESS_ENTRIES = ("API", "API_AND_CONFIG_MAP")
EXTENDED = "extended-support"
ANYWHERE = "0.0.0.0/0"


def kubernetes_version(account: Account) -> Iterator[CheckResult]:
    """Check that EKS offers the version, in standard support, and that an upgrade is to the next one."""
    eks = account.config.eks
    if eks is None or eks.version is None:
        yield skipped(NONE if eks is None else "the EKS cluster exists")
        return
    listed = account.all("eks", "describe_cluster_versions", "clusterVersions")
    offered: dict[str, Json] = {each["clusterVersion"]: each for each in listed}
    if eks.version not in offered:
        known = ", ".join(sorted(offered, key=minor)) or "none"
        yield error(f"EKS does not offer Kubernetes {eks.version} in {account.region}", f"set `eks.version` to one of: {known}")
        return
    yield _support(eks.version, offered[eks.version])
    yield from _upgrade(account, eks.version)


def _support(version: str, facts: Json) -> CheckResult:
    end: datetime | None = facts.get("endOfStandardSupportDate")
    is_over = end is not None and end.date() < datetime.now(UTC).date()
    day = f"{end:%Y-%m-%d}" if end else "an unknown day"
    if is_over or str(facts.get("status") or facts.get("versionStatus", "")).lower().replace("_", "-") == EXTENDED:
        ended = f"standard support of Kubernetes {version} ended{f' on {day}' if is_over else ''}"
        cost = "extended support costs 0.60 USD instead of 0.10 USD per hour"
        return warning(f"{ended}: {cost}", "set `eks.version` to a newer version")
    return ok(f"Kubernetes {version} is in standard support until {day}")


def _upgrade(account: Account, version: str) -> Iterator[CheckResult]:
    """Check that the deployed EKS cluster is at most one minor version older, and not newer."""
    if "Kubernetes" not in account.stacks or (found := _described(account, account.eks_name)) is None:
        return
    distance = minor(version) - minor(found["version"])
    if distance < 0:
        fix = f'set `eks.version` to "{found["version"]}" or newer'
        yield error(f"the EKS cluster has Kubernetes {found['version']}, and EKS has no downgrade to {version}", fix)
    elif distance > 1:
        fix = f'set `eks.version` to "1.{minor(found["version"]) + 1}", deploy, and continue from there'
        yield error(f"the EKS cluster has Kubernetes {found['version']}, and EKS upgrades one minor version at a time", fix)


def eks_cluster(account: Account) -> Iterator[CheckResult]:
    """Check an existing EKS cluster as HyperPod requires it, a new one's name, or the changes of the deployment's own."""
    eks = account.config.eks
    if eks is None:
        yield skipped(NONE)
    elif eks.existing is None:
        name = account.eks_name
        well = f"the name {name} is free" if "Kubernetes" not in account.stacks else f"EKS cluster {name} is the deployment's"
        yield from together(account, _name(account, name), _log_group(account, name), _kept(account, name), well=well)
    elif (found := _described(account, eks.existing.name)) is None:
        yield error(f"no EKS cluster {eks.existing.name} in {account.region}", "correct `eks.existing.name` or `region`")
    else:
        well = f"EKS cluster {eks.existing.name} (Kubernetes {found['version']}) is ACTIVE and uses access entries"
        yield from together(
            account,
            _state(found),
            _network(account, found),
            _endpoint(eks, found),
            _one_to_one(account, eks.existing, found),
            well=well,
        )


def _name(account: Account, name: str) -> Iterator[CheckResult]:
    if "Kubernetes" not in account.stacks and _described(account, name):
        fix = "use it with `eks.existing`, delete it, or rename the cluster file"
        yield error(f"an EKS cluster {name} exists, which this deployment did not create", fix)


def _log_group(account: Account, name: str) -> Iterator[CheckResult]:
    """Check that the stack can create the log group: EKS can write late logs of a deleted cluster, and then creates it again."""
    if "Kubernetes" in account.stacks:
        return
    group = eks_log_group(name)
    found = account.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=group)
    if any(each["logGroupName"] == group for each in found):
        fix = f"`aws logs delete-log-group --log-group-name {group} --region {account.region}`"
        yield error(f"log group {group} exists, so the deployment cannot create it", fix)


def _kept(account: Account, name: str) -> Iterator[CheckResult]:
    """Check that the file changes nothing that the deployed EKS cluster keeps."""
    if "Kubernetes" in account.stacks and (found := _described(account, name)):
        yield from kept_settings(account, found)


def _state(found: Json) -> Iterator[CheckResult]:
    name, mode = found["name"], (found.get("accessConfig") or {}).get("authenticationMode", "CONFIG_MAP")
    if found["status"] != "ACTIVE":
        yield error(f"EKS cluster {name} is {found['status']}", "wait until it is ACTIVE")
    if mode not in ACCESS_ENTRIES:
        command = f"aws eks update-cluster-config --name {name} --access-config authenticationMode=API_AND_CONFIG_MAP"
        yield error(f"EKS cluster {name} has authentication mode {mode}, and HyperPod creates access entries", f"`{command}`")
    if minor(found["version"]) > minor(newest_version()):
        what = f"EKS cluster {name} has Kubernetes {found['version']}, HyperPod supports up to {newest_version()}"
        yield warning(what, "use another EKS cluster: a cluster cannot be downgraded")


def _network(account: Account, found: Json) -> Iterator[CheckResult]:
    """Check that nodes and control plane are in one VPC, and share a security group."""
    existing, own = account.config.network.existing, found["resourcesVpcConfig"]
    if existing is None:
        return
    if own.get("vpcId") != existing.vpc_id:
        fix = "use the VPC of the EKS cluster in `network.existing`"
        yield error(f"EKS cluster {found['name']} is in {own.get('vpcId')}, and the nodes in {existing.vpc_id}", fix)
    attached = [*(own.get("securityGroupIds") or ()), own.get("clusterSecurityGroupId")]
    if existing.security_group_id not in attached:
        yield warning(
            f"{existing.security_group_id} is not attached to EKS cluster {found['name']}, so nodes may not reach it",
            f"allow traffic between it and {', '.join(filter(None, attached)) or 'its security group'} in both directions",
        )


def _endpoint(eks: EksConfig, found: Json) -> Iterator[CheckResult]:
    """Check that the deployment reaches the API server from where the file says: the internet, or only the nodes' subnets."""
    name, own = found["name"], found["resourcesVpcConfig"]
    ranges = own.get("publicAccessCidrs") or [ANYWHERE]
    if not eks.is_reachable_from_anywhere:
        if not own.get("endpointPrivateAccess"):
            command = f"aws eks update-cluster-config --name {name} --resources-vpc-config endpointPrivateAccess=true"
            yield error(f"EKS cluster {name} has no private endpoint, and the deployment calls it from the VPC", f"`{command}`")
    elif not own.get("endpointPublicAccess"):
        yield error(f"EKS cluster {name} is reachable only from its VPC", "set `eks.endpoint_access: private`")
    elif ANYWHERE not in ranges:
        fix = f"set `eks.public_access_cidrs: [{', '.join(ranges)}]`"
        yield error(f"EKS cluster {name} is reachable only from its VPC and {', '.join(ranges)}", fix)


def _one_to_one(account: Account, existing: ExistingEks, found: Json) -> Iterator[CheckResult]:
    """Check that no other HyperPod cluster uses the EKS cluster: HyperPod allows one."""
    for each in other_clusters(account):
        if ((each.get("Orchestrator") or {}).get("Eks") or {}).get("ClusterArn") == found["arn"]:
            fix = "delete that HyperPod cluster, or use another EKS cluster"
            yield error(f"HyperPod cluster {each['ClusterName']} uses EKS cluster {existing.name}, which can have only one", fix)


def _described(account: Account, name: str) -> Json | None:
    found: Json | None = unless_absent(lambda: account.client("eks").describe_cluster(name=name)["cluster"])
    return found
