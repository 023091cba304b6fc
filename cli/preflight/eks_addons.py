"""Check the versions and settings of EKS add-ons, and the IAM principals with access to the EKS cluster."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cli.aws_errors import unless_absent
from cli.kubernetes.client import has_access
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, one_by_one, skipped, warning
from cli.preflight.eks_cluster import NONE
from cluster_request.eks_addons import Addon, all_addons, broken, release, table
from config.eks import AddonName, EksConfig

STEPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-upgrade.html"
LAST_OLD, FIRST_NEW = (1, 3), (1, 5)
"""Up to 1.3, Kueue stores objects in a form that 1.5 does not know, so a direct update fails."""

Schema = Mapping[str, Any]


def eks_addons(account: Account) -> Iterator[CheckResult]:
    """Check that EKS offers each add-on in the version that the deployment installs, with the settings that it sets."""
    eks, addons = account.config.eks, all_addons(account.config)
    if not addons:
        yield skipped(NONE if eks is None else "the deployment installs no add-on")
    known = {each.name for each in addons}
    others = [AddonName(name) for name in table()["broken"] if eks and eks.existing and name not in known]
    yield from one_by_one(account, *(_addon(account, each) for each in addons), *(_other(account, each) for each in others))


def _other(account: Account, name: AddonName) -> Iterator[CheckResult]:
    """Check an add-on that an existing EKS cluster may have and the deployment does not install."""
    if version := _installed(account, name):
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
        yield from _settings(account, addon._replace(version=version))
        yield from _update(account, addon.name, version)


def _version(account: Account, addon: Addon, versions: list[Json]) -> tuple[str, str]:
    """Return the version that a deployment leaves, and why if it sets none; the versions that EKS offers are newest first."""
    if addon.version or (installed := _installed(account, addon.name)):
        return (addon.version, "") if addon.version else (installed, ", which is installed and stays")
    defaults = [each for each in versions if any(one.get("defaultVersion") for one in each.get("compatibilities") or ())]
    return str((defaults or versions)[0]["addonVersion"]), ", EKS's default"


def _update(account: Account, name: AddonName, version: str) -> Iterator[CheckResult]:
    """Check that the update does not cross the change of Kueue's stored objects."""
    if name is not AddonName.TASK_GOVERNANCE or "Addons" not in account.stacks:
        return
    installed = _installed(account, name)
    if installed and release(installed)[:2] <= LAST_OLD and release(version) >= FIRST_NEW:
        fix = f"follow AWS's steps, {STEPS}, or set `eks.addons.{name.value}.version` to `{installed}`"
        yield error(f"{name.value} has no direct update from {installed} to {version}", fix)


def _installed(account: Account, name: AddonName) -> str:
    """Return the add-on's version in the EKS cluster, if it has the add-on."""
    cluster = str(account.config.eks_cluster_name)
    found = unless_absent(lambda: account.client("eks").describe_addon(clusterName=cluster, addonName=name.value))
    return str(found["addon"]["addonVersion"]) if found else ""


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
    found = account.principal(kind, arn.rpartition("/")[2])
    if found is None:
        yield error(f"{arn} does not exist, and EKS refuses access entries for it", "create it, or remove it from the file")
    elif found["Arn"] != arn:
        yield error(f"{arn} does not exist, but {found['Arn']} does", "correct its path in the file")
    else:
        yield ok(f"{arn} exists")


def _own(account: Account, eks: EksConfig) -> Iterator[CheckResult]:
    caller = str(account.identity["Arn"])
    if not has_access(caller, eks.admins):
        fix = "add its role, unless other people operate the cluster"
        yield warning(f"{caller} is not in `eks.admins`, so kubectl and `./hpod drain` have no access with it", fix)


def _settings(account: Account, addon: Addon) -> Iterator[CheckResult]:
    """Check that the add-on has each setting of the deployment and of the file: EKS refuses others, hours into a deployment."""
    if not addon.configuration:
        return
    name, version = addon.name.value, str(addon.version)
    answer = account.client("eks").describe_addon_configuration(addonName=name, addonVersion=version)
    try:
        schema = json.loads(answer.get("configurationSchema") or "{}")
    except (ValueError, RecursionError):
        yield warning(f"{name} {version}: its schema is not JSON, so its settings are not checked", "check them yourself")
        return
    for path in _refused(schema, schema, addon.configuration, ""):
        fix = f"set `{path}` to `null` in `eks.addons.{name}.configuration`, or choose a version that has it"
        yield error(f"{name} {version} has no setting {path}, so EKS refuses it", fix)


def _refused(root: Schema, schema: Schema, settings: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Yield the paths of settings that the schema does not define, in objects that accept no others."""
    schema = _resolved(root, schema)
    properties = schema.get("properties") or {}
    for name, value in settings.items():
        if name in properties:
            if isinstance(value, Mapping):
                yield from _refused(root, properties[name], value, f"{prefix}{name}.")
        elif schema.get("additionalProperties") is False and not schema.get("patternProperties"):
            yield prefix + name


def _resolved(root: Schema, schema: Schema) -> Schema:
    """Return the definition that the schema refers to, such as `#/definitions/Coredns`."""
    seen: set[str] = set()
    while (reference := schema.get("$ref")) and reference.startswith("#/") and reference not in seen:
        seen.add(reference)
        schema = root
        for part in reference.split("/")[1:]:
            schema = schema.get(part) or {}
    return schema
