"""Check the versions of EKS add-ons, and the IAM principals with access to the EKS cluster."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from cli.kubernetes.principals import has_access
from cli.preflight.account import Account, Json
from cli.preflight.addon_settings import addon_settings
from cli.preflight.addon_updates import addon_update, installed_version
from cli.preflight.check_result import CheckResult, error, ok, skipped, warning
from cli.preflight.eks_cluster import NONE
from cli.preflight.runner import code_of, one_by_one
from cluster_request.eks_addons import Addon, addons_after_nodes, addons_before_nodes, broken, known_broken
from config.eks import AddonName, EksConfig


def eks_addons(account: Account) -> Iterator[CheckResult]:
    """Check that EKS offers each add-on in the version that the deployment installs, with the settings that it sets."""
    config = account.config
    addons = [*addons_before_nodes(config), *addons_after_nodes(config)]
    if not addons:
        yield skipped(NONE if config.eks is None else "the deployment installs no add-on")
    others = known_broken() - {each.name for each in addons} if config.eks and config.eks.existing else ()
    yield from one_by_one(account, *(_addon(account, each) for each in addons), *(_other(account, each) for each in others))


def _other(account: Account, name: AddonName) -> Iterator[CheckResult]:
    """Check an add-on that an existing EKS cluster may have and the deployment does not install."""
    if version := installed_version(account, name):
        yield from _broken(name, version)


def _broken(name: AddonName, version: str) -> Iterator[CheckResult]:
    if known := broken(name, version):
        fix = f"set `eks.addons.{name.value}.version` to {known['fixed']} or newer"
        yield warning(f"{name.value} {version} {known['problem']}", fix, known["source"])


def _addon(account: Account, addon: Addon) -> Iterator[CheckResult]:
    kubernetes = account.config.eks.version if account.config.eks else None
    chosen = {"kubernetesVersion": kubernetes} if kubernetes else {}
    listed = account.all("eks", "describe_addon_versions", "addons", addonName=addon.name.value, **chosen)
    versions: list[Json] = [version for each in listed for version in each.get("addonVersions") or ()]
    name, on = addon.name.value, f" for Kubernetes {kubernetes}" if kubernetes else ""
    known = {each["addonVersion"]: each for each in versions}
    if not known:
        yield error(f"EKS does not offer add-on {name}{on} in {account.region}", f"set `eks.addons.{name}.enabled: false`")
        return
    version, choice = _version(account, addon, versions)
    if version not in known:
        newest = versions[0]["addonVersion"]
        fix = f"set `eks.addons.{name}.version` to `{newest}`, the newest"
        yield error(f"EKS does not offer {name} {version}{on}: AWS withdrew it, or it never existed", fix)
    else:
        yield ok(f"{name} {version}{choice}{_identity(addon, known[version])}")
        yield from _broken(addon.name, version)
        yield from addon_settings(account, addon._replace(version=version))
        yield from addon_update(account, addon.name, version)


def _version(account: Account, addon: Addon, versions: list[Json]) -> tuple[str, str]:
    """Return the version that a deployment leaves, and why if it sets none; the versions that EKS offers are newest first."""
    if addon.version or (installed := installed_version(account, addon.name)):
        return (addon.version, "") if addon.version else (installed, ", which is installed and stays")
    defaults = [each for each in versions if any(one.get("defaultVersion") for one in each.get("compatibilities") or ())]
    return str((defaults or versions)[0]["addonVersion"]), ", EKS's default"


def _identity(addon: Addon, version: Json) -> str:
    """Return how the training operator gets its role: a version that requires no permissions takes no inline association."""
    if addon.name is not AddonName.TRAINING_OPERATOR or version.get("requiresIamPermissions"):
        return ""
    return " (takes no role itself; the deployment associates its role with the service account)"


def access(account: Account) -> Iterator[CheckResult]:
    """Check that the roles and users of access entries exist, and that you are one of the administrators."""
    eks = account.config.eks
    if eks is None:
        yield skipped(NONE)
        return
    named = dict.fromkeys([*eks.admins, *(arn for team in eks.teams for arn in team.role_arns)])
    yield from one_by_one(account, *(_principal(account, arn) for arn in named), _own(account, eks))


def _principal(account: Account, arn: str) -> Iterator[CheckResult]:
    owner, kind = arn.split(":")[4], arn.split(":")[5].partition("/")[0]
    if owner != account.id:
        fix = "check that it exists: EKS accepts only principals that exist"
        yield warning(f"{arn} is in account {owner}, which was not asked", fix)
        return
    iam, name = account.client("iam"), arn.rpartition("/")[2]
    try:
        found = iam.get_role(RoleName=name)["Role"] if kind == "role" else iam.get_user(UserName=name)["User"]
    except ClientError as failure:
        if code_of(failure) != "NoSuchEntity":
            raise
        yield error(f"{arn} does not exist, and EKS refuses access entries for it", "create it, or remove it from the file")
        return
    if found["Arn"] != arn:
        yield error(f"{arn} does not exist, but {found['Arn']} does", "correct its path in the file")
    else:
        yield ok(f"{arn} exists")


def _own(account: Account, eks: EksConfig) -> Iterator[CheckResult]:
    caller = str(account.identity["Arn"])
    if not has_access(caller, eks.admins):
        yield warning(
            f"{caller} is not in `eks.admins`, so kubectl and `./hpod drain` have no access with it",
            "add its role, unless other people operate the cluster",
        )
