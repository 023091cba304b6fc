"""Print the effect of fields that changed since the deployment, and refuse changes that no deployment can make."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

from cli.desired_cluster import deployed_properties, template_resources
from cli.preflight.account import Account, Json
from cli.preflight.associations import KIND, overlap
from cli.preflight.check_result import CheckResult, Outcome, error, ok, skipped, warning
from config.section import Change, Removal, Section

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
REPLACED = (Change.REPLACES_FILE_SYSTEM, Change.REPLACES_BOTH)
Effect = tuple[str, str, Change]


def changes(account: Account) -> Iterator[CheckResult]:
    """Compare the fields of the network, the storage and the chat channels with the deployed templates."""
    if "Network" not in account.stacks:
        yield skipped("no stack of this file exists")
        return
    config = account.config
    network, storage, monitoring = (template_resources(account.deployment, name) for name in ("Network", "Storage", "Monitoring"))
    found = [
        *(() if config.network.existing else _changed("network", config.network, network)),
        *_changed("storage.lustre", config.storage.lustre, storage),
        *_changed("monitoring.slack", config.monitoring.slack, monitoring),
        *_changed("monitoring.teams", config.monitoring.teams, monitoring),
    ]
    identity = (deployed_properties(account.deployment) or {}).get("NetworkIdentity")
    if identity not in (None, config.network.identity) and not any(field.startswith("network.") for field, *_ in found):
        found.append(("network", "the VPC, a subnet or the security group changes", Change.REPLACES_BOTH))
    if not any(effect in REPLACED for *_, effect in found):
        found += _links(account, [each["Properties"] for each in storage.values() if each["Type"] == KIND])
    yield from (_judged(account, *each) for each in found)
    if not found:
        yield ok("network, storage and chat channels are as deployed")


def _changed(path: str, section: Section | None, resources: Json) -> Iterator[Effect]:
    for name, field in type(section).model_fields.items() if section else ():
        extra: Any = field.json_schema_extra
        operation, _, member = extra["api"].partition(" ")
        part, after = RESOURCES.get(operation, "-"), str(getattr(section, name))
        for before in [each["Properties"] for key, each in resources.items() if part == each["Type"] or part in key][:1]:
            names = (PROPERTIES.get(step, step[0].upper() + step[1:]) for step in member.split("."))
            value = reduce(lambda above, step: above.get(step, {}), names, before)
            if str(value) != after:
                yield f"{path}.{name}", f"{value} -> {after}", Change(extra["change"])


def _links(account: Account, deployed: list[Json]) -> Iterator[Effect]:
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
    message = f"`{field}`: {what}: {effect.value}"
    if effect is Change.AT_CREATION:
        fix = f"undo the change, or copy {account.config.name}.yaml to another name for a second cluster with it"
        return error(f"{message}, so the deployment fails", fix)
    if effect is Change.IN_TWO_DEPLOYMENTS:
        return error(f"{message}, or the deployment fails", f"remove `{field}` and deploy, then add it again and deploy")
    if effect in REPLACED:
        lustre = account.config.storage.lustre
        end = "deleted with its data" if lustre and lustre.removal is Removal.DESTROY else "kept"
        old = account.output("FileSystemId") or "the old one"
        return warning(f"{message}: the new file system is empty, and {old} is {end}", "copy the data first, or undo the change")
    return CheckResult(Outcome.CHANGE, message)
