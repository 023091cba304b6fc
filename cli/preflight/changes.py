"""Check that stacks can be deployed; print the effect of changed fields, and refuse changes that no deployment can make."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import reduce
from typing import Any

from cli.deployment import Stack
from cli.desired_cluster import CONTROLLER_ROLE, deployed_properties, template_resources
from cli.ownership import OURS, cluster_named
from cli.preflight.account import Account, Json
from cli.preflight.associations import KIND, overlap
from cli.preflight.check import CheckResult, Outcome, error, ok, skipped, warning
from cli.preflight.permissions import EXECUTION
from cli.preflight.prerequisites import role_arn
from cli.resource_code import ClusterApi
from config.bucket_names import CLOUDFORMATION_ROLE
from config.model import ClusterConfig, slurm_of
from config.section import Change, Removal, Section
from config.slurm import METADATA_ACCESS, ControllerRole, MetadataAccess

# The CDK's command line deletes and recreates these automatically.
MADE_ANEW = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS")
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html: left as they failed.
PAUSED = ("CREATE_FAILED", "UPDATE_FAILED")
# The type, or a part of the logical ID, of the resource that has the member of a request as property.
RESOURCES = {
    "ec2:CreateVpc": "AWS::EC2::VPC",
    "ec2:CreateSubnet": "PublicSubnet",
    "ec2:AssociateVpcCidrBlock": "AWS::EC2::VPCCidrBlock",
    "logs:PutRetentionPolicy": "AWS::Logs::LogGroup",
    "fsx:CreateFileSystem": "AWS::FSx::FileSystem",
    "chatbot:CreateSlackChannelConfiguration": "AWS::Chatbot::SlackChannelConfiguration",
    "chatbot:CreateMicrosoftTeamsChannelConfiguration": "AWS::Chatbot::MicrosoftTeamsChannelConfiguration",
}
PROPERTIES = {"SlackTeamId": "SlackWorkspaceId", "TenantId": "TeamsTenantId", "ChannelId": "TeamsChannelId"}
CAPACITY = "storage_capacity_gib"
REPLACED = (Change.REPLACES_FILE_SYSTEM, Change.REPLACES_BOTH)


def stacks(account: Account) -> Iterator[CheckResult]:
    """Check that no stack of the file is busy or stuck."""
    if not account.stacks:
        yield skipped("no stack of this file exists")
    for stack in account.stacks.values():
        message = f"{stack.name} is {stack.status}{': ' if stack.reason else ''}{stack.reason}"
        make, fix = _state(stack, account)
        yield make(message, fix) if fix else ok(message)
    yield from _deployer(account)


def _deployer(account: Account) -> Iterator[CheckResult]:
    """Warn if the last deployment used a role that the policy of the script bucket refuses; the next may use another."""
    stack = account.stacks.get("Cluster")
    allowed = f"arn:{account.partition}:iam::{account.id}:role/{CLOUDFORMATION_ROLE}"
    if stack and stack.status not in MADE_ANEW and not fnmatchcase(stack.role, allowed):
        used = f"role {stack.role}" if stack.role else "the caller's own permissions"
        yield warning(
            f"{account.config.name}.yaml: {stack.name} was deployed with {used}, which could not change or delete the script "
            f"bucket after this deployment: its policy allows only roles {CLOUDFORMATION_ROLE} and the root user",
            f"run `{account.deploy_command}` without --role-arn: it uses {role_arn(account, EXECUTION)}; "
            "docs/change/change.md explains the policy",
        )


def _state(stack: Stack, account: Account) -> tuple[Callable[[str, str], CheckResult], str]:
    """Return how bad the stack's state is, and its fix; empty if CloudFormation can continue."""
    look = f"`{account.hpod('status')}`"
    match stack.status:
        case "UPDATE_ROLLBACK_FAILED":
            return error, f"`{account.hpod('continue-rollback')}` continues it"
        case "DELETE_FAILED":
            return error, f"run {look}, fix the reason, and delete the stack"
        case status if status in MADE_ANEW:
            return warning, f"the CDK deletes and recreates it; {look} shows why it failed"
        case status if status in PAUSED:
            return warning, f"`cdk rollback '{stack.name}'` rolls it back, which a deployment also offers; {look} shows why"
        case status if status.endswith("_FAILED"):
            return warning, f"{look} shows why; fix that before you deploy"
    return warning, f"wait until it is done: {look}" if stack.status.endswith("_IN_PROGRESS") else ""


def changes(account: Account) -> Iterator[CheckResult]:
    """Compare the fields of the network, the storage and the chat channels with the deployed templates."""
    config, kept = account.config, (name for name, stack in account.stacks.items() if stack.status not in MADE_ANEW)
    deployed = {name: template_resources(account, name) for name in kept}
    if "Network" not in deployed:
        yield skipped("the network is not deployed")
        if config.slurm and config.slurm.accounting.secret_arn and not config.has_controller_role:
            fix = "set `slurm: {controller_role: own}`, which cannot change later"
            yield warning("all nodes will be able to read the secret of `slurm.accounting`", fix)
        return
    network, storage, monitoring = (deployed.get(name, {}) for name in ("Network", "Storage", "Monitoring"))
    found = [
        *_changed("network", None if config.network.existing else config.network, network),
        *_changed("storage.lustre", config.storage.lustre, storage),
        *_changed("monitoring.slack", config.monitoring.slack, monitoring),
        *_changed("monitoring.teams", config.monitoring.teams, monitoring),
        *_metadata_access(config, deployed.get("Cluster", {})),
    ]
    if not config.storage.lustre and any(each["Type"] == "AWS::FSx::FileSystem" for each in storage.values()):
        found.append(("storage.lustre", "removed", Change.REPLACES_FILE_SYSTEM))
    properties = deployed_properties(account) or {}
    identity = properties.get("NetworkIdentity")
    if identity not in (None, config.network.identity) and not any(field.startswith("network.") for field, *_ in found):
        found.append(("network", "another VPC, subnet or security group", Change.REPLACES_BOTH))
    if not _is_new_cluster(account, properties, is_moved=any(effect is Change.REPLACES_BOTH for *_, effect in found)):
        found += _controller_role(config, deployed.get("Cluster", {}))
    if any(effect in REPLACED for *_, effect in found):
        found = [each for each in found if each[0] != f"storage.lustre.{CAPACITY}"]  # that of the new file system
    else:
        found += _links(account, [each["Properties"] for each in storage.values() if each["Type"] == KIND])
    yield from [_judged(account, *each) for each in found] or [ok("network, storage and chat channels are as deployed")]


def _changed(path: str, section: Section | None, resources: Json) -> Iterator[tuple[str, str, Change]]:
    for name, field in type(section).model_fields.items() if section else ():
        extra: Any = field.json_schema_extra
        operation, _, member = extra["api"].partition(" ")
        part, new = RESOURCES.get(operation, "-"), getattr(section, name)
        for before in [each["Properties"] for key, each in resources.items() if part == each["Type"] or part in key][:1]:
            names = (PROPERTIES.get(step, step[0].upper() + step[1:]) for step in member.split("."))
            old = reduce(lambda above, step: above.get(step, {}), names, before)
            if str(old) != str(new):
                is_smaller = name == CAPACITY and old > new
                yield f"{path}.{name}", f"{old} -> {new}", Change.AT_CREATION if is_smaller else Change(extra["change"])


def _metadata_access(config: ClusterConfig, cluster: Json) -> Iterator[tuple[str, str, Change]]:
    """Yield a change of the users who can use the node role on running nodes; older deployments restrict none."""
    rollouts = [each for each in cluster.values() if each["Type"] == "Custom::HyperPodRollout"]
    for deployed in rollouts if config.has_node_reports else ():
        old, new = deployed.get("Metadata", {}).get(METADATA_ACCESS, "all"), slurm_of(config).metadata_access
        if old != new:
            lost = "users and jobs cannot use the node role any more, `all` keeps it" * (new is MetadataAccess.ADMINISTRATORS)
            yield "slurm.metadata_access", f"{old} -> {new}{f' ({lost})' if lost else ''}", Change.RUNNING_NODES


def _is_new_cluster(account: Account, deployed: Json, *, is_moved: bool) -> bool:
    """Return whether a deployment creates a cluster instead of updating the deployed one."""
    config, name = account.config, account.output("ClusterName")
    if deployed.get("ClusterName") != config.cluster_name:
        return True
    if config.recreate and name and cluster_named(ClusterApi(account.client("sagemaker")), name) is None:
        return True
    was_on_eks = "Eks" in deployed.get("Request", {}).get("Orchestrator", {})
    return not config.cluster_name and (is_moved or was_on_eks)


def _controller_role(config: ClusterConfig, cluster: Json) -> Iterator[tuple[str, str, Change]]:
    """Yield a change of the controllers' role: HyperPod cannot change the role of an instance group."""
    if config.slurm is None or not any(each["Type"] == OURS for each in cluster.values()):
        return
    had = any(key.startswith(CONTROLLER_ROLE) and each["Type"] == "AWS::IAM::Role" for key, each in cluster.items())
    old, new = ControllerRole.OWN if had else ControllerRole.SHARED, config.slurm.controller_role
    if old is not new:
        yield "slurm.controller_role", f"{old} -> {new}", Change.AT_CREATION


def _links(account: Account, deployed: list[Json]) -> Iterator[tuple[str, str, Change]]:
    """Yield each new association that overlaps with a deployed one, which is deleted only after it is created."""
    storage = account.config.storage
    old = [(each["FileSystemPath"], _text(each["DataRepositoryPath"]), each["BatchImportMetaDataOnCreate"]) for each in deployed]
    for index, link in enumerate(storage.data_repository_associations):
        bucket = link.bucket or storage.data_bucket.existing or "DATA-BUCKET"
        new = (link.path, f"s3://{bucket}/{link.prefix}", link.import_metadata_on_create)
        for each in () if new in old else [each for each in old if overlap(new[0], each[0]) or overlap(new[1], each[1])]:
            what = f"{each[0]} with {each[1]} -> {new[0]} with {new[1]}"
            yield f"storage.data_repository_associations[{index}]", what, Change.IN_TWO_DEPLOYMENTS


def _text(value: Any) -> str:
    """Return the address of a prefix; the bucket of the stack is a reference."""
    parts = value["Fn::Join"][1] if isinstance(value, dict) else [value]
    return "".join(part if isinstance(part, str) else "DATA-BUCKET" for part in parts)


def _judged(account: Account, field: str, what: str, effect: Change) -> CheckResult:
    message, lustre, old = f"`{field}`: {what}: {effect.value}", account.config.storage.lustre, account.output("FileSystemId")
    if effect is Change.AT_CREATION:
        fix = f"undo the change, or copy {account.config.name}.yaml to another name for a second cluster with it"
        return error(f"{message}, or the deployment fails", fix)
    if effect is Change.IN_TWO_DEPLOYMENTS:
        return error(f"{message}, or the deployment fails", f"remove `{field}` and deploy, then add it again and deploy")
    if effect not in REPLACED:
        return CheckResult(Outcome.CHANGE, message)
    if lustre:
        fate = "deleted" if lustre.removal is Removal.DESTROY else "kept"
        message += f": the new file system is empty, and {old} is {fate}"
    elif effect is Change.REPLACES_FILE_SYSTEM:
        message += f": {old} leaves the deployment, and is deleted if it was deployed with `removal: destroy`"
    return warning(message, "copy the data first, or undo the change")
