"""EC2: security groups and their rules."""

from typing import Any

from local_aws.cloudformation.resources.ec2 import retag, tag_specification
from local_aws.cloudformation.resources.provider import Context, Provider, tolerate
from local_aws.cloudformation.template import Json

INGRESS, EGRESS = "ingress", "egress"
ANYWHERE = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


def _permission(rule: Json, direction: str) -> Json:
    """Return a rule in the form of EC2's calls."""
    permission: Json = {"IpProtocol": rule["IpProtocol"]}
    permission |= {name: rule[name] for name in ("FromPort", "ToPort") if name in rule}
    note = {"Description": rule["Description"]} if "Description" in rule else {}
    peer = rule.get("SourceSecurityGroupId" if direction == INGRESS else "DestinationSecurityGroupId")
    if peer:
        permission["UserIdGroupPairs"] = [{"GroupId": peer, **note}]
    if "CidrIp" in rule:
        permission["IpRanges"] = [{"CidrIp": rule["CidrIp"], **note}]
    if "CidrIpv6" in rule:
        permission["Ipv6Ranges"] = [{"CidrIpv6": rule["CidrIpv6"], **note}]
    return permission


def _authorize(context: Context, group_id: str, rule: Json, direction: str) -> Json:
    call = getattr(context.client("ec2"), f"authorize_security_group_{direction}")
    answer: Json = call(GroupId=group_id, IpPermissions=[_permission(rule, direction)])
    return answer


def _revoke(context: Context, group_id: str, rule: Json, direction: str) -> None:
    call = getattr(context.client("ec2"), f"revoke_security_group_{direction}")
    with tolerate("InvalidPermission.NotFound", "InvalidGroup.NotFound", "InvalidSecurityGroupRuleId.NotFound"):
        call(GroupId=group_id, IpPermissions=[_permission(rule, direction)])


def _rule_paths(peer: str) -> tuple[str, ...]:
    return ("IpProtocol", "FromPort", "ToPort", "CidrIp", "CidrIpv6", "Description", peer)


class SecurityGroup(Provider):
    """AWS::EC2::SecurityGroup, in a VPC."""

    type = "AWS::EC2::SecurityGroup"
    acts_on = (
        "GroupDescription",
        "GroupName",
        "Tags",
        "VpcId",
        *(f"SecurityGroupIngress/{path}" for path in _rule_paths("SourceSecurityGroupId")),
        *(f"SecurityGroupEgress/{path}" for path in _rule_paths("DestinationSecurityGroupId")),
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the group with its rules and return its id."""
        answer = context.client("ec2").create_security_group(
            GroupName=properties.get("GroupName") or context.unique_name(255),
            Description=properties["GroupDescription"],
            VpcId=properties["VpcId"],
            TagSpecifications=tag_specification(context, "security-group", properties),
        )
        group_id = str(answer["GroupId"])
        context.identify(group_id)
        self._sync(context, group_id, properties, {})
        return group_id

    def _sync(self, context: Context, group_id: str, properties: Json, before: Json) -> None:
        for direction, name in ((INGRESS, "SecurityGroupIngress"), (EGRESS, "SecurityGroupEgress")):
            new, old = _rules(properties, name), _rules(before, name)
            for rule in [rule for rule in old if rule not in new]:
                _revoke(context, group_id, rule, direction)
            for rule in [rule for rule in new if rule not in old]:
                with tolerate("InvalidPermission.Duplicate"):
                    _authorize(context, group_id, rule, direction)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the group's id and VPC."""
        return {"GroupId": physical_id, "Id": physical_id, "VpcId": properties["VpcId"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the rules and tags."""
        self._sync(context, physical_id, properties, before)
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the group."""
        with tolerate("InvalidGroup.NotFound"):
            context.client("ec2").delete_security_group(GroupId=physical_id)


def _rules(properties: Json, name: str) -> list[Any]:
    """Return a group's rules; without egress rules, EC2 allows all outbound traffic."""
    if name == "SecurityGroupEgress" and not properties.get(name):
        return [ANYWHERE]
    return list(properties.get(name) or ())


class _Rule(Provider):
    """A separate rule of a group."""

    direction = INGRESS

    def create(self, context: Context, properties: Json) -> str:
        """Add the rule and return its id."""
        answer = _authorize(context, properties["GroupId"], properties, self.direction)
        return str(answer["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the rule's id."""
        return {"Id": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the description, the only mutable property; moto supports this for address ranges but not for groups."""
        call = getattr(context.client("ec2"), f"update_security_group_rule_descriptions_{self.direction}")
        call(GroupId=properties["GroupId"], IpPermissions=[_permission(properties, self.direction)])

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the rule."""
        _revoke(context, properties["GroupId"], properties, self.direction)


class SecurityGroupIngress(_Rule):
    """AWS::EC2::SecurityGroupIngress."""

    type = "AWS::EC2::SecurityGroupIngress"
    acts_on = ("GroupId", *_rule_paths("SourceSecurityGroupId"))


class SecurityGroupEgress(_Rule):
    """AWS::EC2::SecurityGroupEgress."""

    type = "AWS::EC2::SecurityGroupEgress"
    acts_on = ("GroupId", *_rule_paths("DestinationSecurityGroupId"))
    direction = EGRESS


PROVIDERS = (SecurityGroup(), SecurityGroupIngress(), SecurityGroupEgress())
