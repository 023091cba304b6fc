"""Find what others put into a deployment's VPC, which blocks its deletion. Runs in Lambda and in the command line."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from botocore import xform_name

Json = dict[str, Any]

CLUSTER_TAG = "hyperpod-cdk:cluster"
GOING = ("deleting", "rejected", "failed", "expired")
OF_CLUSTER = ("interface", "efa", "efa-only", "lambda")
"""Types of the interfaces that HyperPod, FSx, EKS and Lambda create."""
GATEWAYS = ("VpcPeeringConnection", "VpnGateway", "EgressOnlyInternetGateway")
"""No filter finds these by an end or an attachment."""
NOUNS = ("VpcEndpoint", "NatGateway", "Subnet", "RouteTable", "NetworkAcl", *GATEWAYS, "SecurityGroup", "NetworkInterface")
"""EC2's kinds of resources that block the deletion of a VPC."""


class Foreign(NamedTuple):
    """A resource that neither the deployment nor GuardDuty created; ``subnet_ids`` are those that it uses."""

    id: str
    sentence: str
    subnet_ids: tuple[str, ...]


def foreign_resources(ec2: Any, vpc_id: str, cluster: str) -> list[Foreign]:
    """Return what others put into the VPC; ``cluster`` is the value of the deployment's tag."""
    listed = [(noun, each) for noun in NOUNS for each in in_vpc(ec2, noun, vpc_id)]
    ours = {each["GroupId"] for _, each in listed if "GroupId" in each and _is_ours(each, cluster)}
    # Gateways and endpoints keep their interfaces until they are deleted.
    known = {part.get("NetworkInterfaceId") for _, each in listed for part in each.get("NatGatewayAddresses") or ()}
    known |= {part for _, each in listed for part in each.get("NetworkInterfaceIds") or ()}
    return [
        _foreign(noun, each, ours, vpc_id)
        for noun, each in listed
        if _state(each) not in GOING and each.get("NetworkInterfaceId", vpc_id) not in known
        if not (_is_ours(each, cluster) or _is_of_cluster(each, ours))
    ]


def in_vpc(ec2: Any, noun: str, vpc_id: str) -> Iterator[Json]:
    """Yield the VPC's resources of EC2's kind ``noun`` that are not deleted."""
    request: Json = {} if noun in GATEWAYS else {"Filters": [{"Name": "vpc-id", "Values": [vpc_id]}]}
    while request.get("NextToken", True):
        page = getattr(ec2, xform_name(f"Describe{noun}s"))(**request)
        request["NextToken"] = page.get("NextToken")
        for each in page[f"{noun}s"]:
            ends = [each.get("RequesterVpcInfo", {}), each.get("AccepterVpcInfo", {})]
            ends += [*each.get("VpcAttachments", ()), *each.get("Attachments", ())]
            is_here = any(end.get("VpcId") == vpc_id and end.get("State") != "detached" for end in ends)
            if _state(each) != "deleted" and (is_here or noun not in GATEWAYS):
                yield each


def _state(resource: Json) -> str:
    status = resource.get("Status")
    return str(status["Code"] if isinstance(status, dict) else resource.get("State")).lower()


def is_guardduty(resource: Json) -> bool:
    """Return whether GuardDuty's automatic mode created the endpoint or the security group."""
    name = str(resource.get("ServiceName") or resource.get("GroupName"))
    is_named = name.endswith((".guardduty-data", ".guardduty-data-fips")) or name.startswith("GuardDutyManagedSecurityGroup-")
    return is_named and _tags(resource).get("GuardDutyManaged") == "true"


def _tags(resource: Json) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in resource.get("Tags") or resource.get("TagSet") or ()}


def _is_ours(resource: Json, cluster: str) -> bool:
    """Return whether the deployment, EKS for it, or GuardDuty created the resource, or EC2 deletes it with the VPC."""
    tags = _tags(resource)
    is_main = any(each.get("Main") for each in resource.get("Associations") or ())
    is_default = is_main or resource.get("IsDefault") or resource.get("GroupName") == "default"
    return bool(is_default) or is_guardduty(resource) or cluster in (tags.get(CLUSTER_TAG), tags.get("aws:eks:cluster-name"))


def _is_of_cluster(resource: Json, ours: set[str]) -> bool:
    """Return whether it is an interface with only our security groups, created by a service that the cluster uses."""
    groups = {each["GroupId"] for each in resource.get("Groups") or ()}
    holder = (resource.get("Attachment") or {}).get("InstanceOwnerId") or resource.get("OwnerId")
    by_service = resource.get("RequesterManaged") or holder != resource.get("OwnerId")
    is_of_type = resource.get("InterfaceType") in OF_CLUSTER and not str(resource.get("Description")).startswith("ELB ")
    return bool(groups and groups <= ours and by_service and is_of_type)


def _foreign(noun: str, resource: Json, ours: set[str], vpc_id: str) -> Foreign:
    kind = re.sub("^(vpc|nat|vpn)|acl$", lambda found: found[0].upper(), xform_name(noun, " ").replace("egress ", "egress-"))
    key = resource["GroupId" if noun == "SecurityGroup" else f"{noun}Id"]
    # The interfaces of a load balancer are described as `ELB app/NAME/ID`.
    note = (resource.get("Attachment") or {}).get("InstanceId") or resource.get("Description") or resource.get("ServiceName")
    account = resource.get("OwnerId") or resource.get("RequesterVpcInfo", {}).get("OwnerId")
    service = resource.get("RequesterManaged") and resource.get("RequesterId")
    stack = _tags(resource).get("aws:cloudformation:stack-name")
    owner = f"stack {stack}" if stack else service or (account and f"account {account}")
    rules = [*resource.get("IpPermissions", ()), *resource.get("IpPermissionsEgress", ())]
    named = sorted({pair["GroupId"] for rule in rules for pair in rule.get("UserIdGroupPairs", ())} & ours)
    place = (
        f"refers to {', '.join(named)}" if named else f"is in {vpc_id if noun == 'Subnet' else resource.get('SubnetId', vpc_id)}"
    )
    sentence = (kind, key, note and f"({note})", owner and f"of {owner}", place)
    return Foreign(key, " ".join(filter(None, sentence)), (*(resource.get("SubnetIds") or ()), resource.get("SubnetId", "")))
