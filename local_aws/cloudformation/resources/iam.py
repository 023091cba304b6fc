"""IAM: roles, inline policies and managed policies."""

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider, changed, document, pick, tag_changes, tolerate
from local_aws.cloudformation.template import Json

GONE = "NoSuchEntity"


class Role(Provider):
    """AWS::IAM::Role."""

    type = "AWS::IAM::Role"
    acts_on = (
        "AssumeRolePolicyDocument",
        "Description",
        "ManagedPolicyArns",
        "MaxSessionDuration",
        "Path",
        "PermissionsBoundary",
        "Policies",
        "RoleName",
        "Tags",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the role with its policies and return its name."""
        name = properties.get("RoleName") or context.unique_name(64)
        context.client("iam").create_role(
            RoleName=name,
            AssumeRolePolicyDocument=document(properties["AssumeRolePolicyDocument"]),
            **pick(properties, "Path", "Description", "MaxSessionDuration", "PermissionsBoundary"),
            Tags=context.tags(properties),
        )
        context.identify(name)
        self._sync_policies(context, name, properties, {})
        return str(name)

    def _sync_policies(self, context: Context, name: str, properties: Json, before: Json) -> None:
        iam = context.client("iam")
        new, old = properties.get("ManagedPolicyArns") or [], before.get("ManagedPolicyArns") or []
        for arn in [arn for arn in new if arn not in old]:
            iam.attach_role_policy(RoleName=name, PolicyArn=arn)
        for arn in [arn for arn in old if arn not in new]:
            with tolerate(GONE):
                iam.detach_role_policy(RoleName=name, PolicyArn=arn)
        inline = {policy["PolicyName"]: document(policy["PolicyDocument"]) for policy in properties.get("Policies") or ()}
        for policy_name, text in inline.items():
            iam.put_role_policy(RoleName=name, PolicyName=policy_name, PolicyDocument=text)
        for policy in before.get("Policies") or ():
            if policy["PolicyName"] not in inline:
                with tolerate(GONE):
                    iam.delete_role_policy(RoleName=name, PolicyName=policy["PolicyName"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and id."""
        role = context.client("iam").get_role(RoleName=physical_id)["Role"]
        return {"Arn": role["Arn"], "RoleId": role["RoleId"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the trust policy, policies, description, session length, boundary and tags."""
        iam = context.client("iam")
        iam.update_assume_role_policy(RoleName=physical_id, PolicyDocument=document(properties["AssumeRolePolicyDocument"]))
        if changed(properties, before, "Description", "MaxSessionDuration"):
            iam.update_role(
                RoleName=physical_id,
                Description=properties.get("Description", ""),
                MaxSessionDuration=properties.get("MaxSessionDuration", 3600),
            )
        self._sync_boundary(context, physical_id, properties, before)
        self._sync_policies(context, physical_id, properties, before)
        added, removed = tag_changes(properties, before)
        if removed:
            iam.untag_role(RoleName=physical_id, TagKeys=removed)
        if added:
            iam.tag_role(RoleName=physical_id, Tags=added)

    def _sync_boundary(self, context: Context, name: str, properties: Json, before: Json) -> None:
        if not changed(properties, before, "PermissionsBoundary"):
            return
        if "PermissionsBoundary" in properties:
            context.client("iam").put_role_permissions_boundary(
                RoleName=name, PermissionsBoundary=properties["PermissionsBoundary"]
            )
        else:
            context.client("iam").delete_role_permissions_boundary(RoleName=name)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the role and its own policies; as on AWS, policies of others prevent it."""
        iam = context.client("iam")
        with tolerate(GONE):
            for arn in properties.get("ManagedPolicyArns") or ():
                with tolerate(GONE):
                    iam.detach_role_policy(RoleName=physical_id, PolicyArn=arn)
            for policy in properties.get("Policies") or ():
                with tolerate(GONE):
                    iam.delete_role_policy(RoleName=physical_id, PolicyName=policy["PolicyName"])
            iam.delete_role(RoleName=physical_id)


class InlinePolicy(Provider):
    """AWS::IAM::Policy, of roles."""

    type = "AWS::IAM::Policy"
    acts_on = ("PolicyDocument", "PolicyName", "Roles")

    def create(self, context: Context, properties: Json) -> str:
        """Put the policy into its roles and return an invented id."""
        if not properties.get("Roles"):
            raise ResourceError("At least one of [Groups,Roles,Users] must be non-empty.")
        self._put(context, properties)
        return context.unique_name(128)

    def _put(self, context: Context, properties: Json) -> None:
        for role in properties["Roles"]:
            context.client("iam").put_role_policy(
                RoleName=role, PolicyName=properties["PolicyName"], PolicyDocument=document(properties["PolicyDocument"])
            )

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the invented id."""
        return {"Id": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Put the new policy into the new roles, and remove the old one from the others."""
        self._put(context, properties)
        renamed = changed(properties, before, "PolicyName")
        gone = [role for role in before["Roles"] if renamed or role not in properties["Roles"]]
        self._remove(context, gone, before["PolicyName"])

    def _remove(self, context: Context, roles: list[str], name: str) -> None:
        for role in roles:
            with tolerate(GONE):
                context.client("iam").delete_role_policy(RoleName=role, PolicyName=name)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Remove the policy from its roles."""
        self._remove(context, properties.get("Roles") or [], properties["PolicyName"])


class ManagedPolicy(Provider):
    """AWS::IAM::ManagedPolicy, attached to roles."""

    type = "AWS::IAM::ManagedPolicy"
    acts_on = ("Description", "ManagedPolicyName", "Path", "PolicyDocument", "Roles")

    def create(self, context: Context, properties: Json) -> str:
        """Create and attach the policy, and return its ARN."""
        answer = context.client("iam").create_policy(
            PolicyName=properties.get("ManagedPolicyName") or context.unique_name(128),
            PolicyDocument=document(properties["PolicyDocument"]),
            **pick(properties, "Path", "Description"),
        )
        arn = str(answer["Policy"]["Arn"])
        context.identify(arn)
        self._sync_roles(context, arn, properties, {})
        return arn

    def _sync_roles(self, context: Context, arn: str, properties: Json, before: Json) -> None:
        new, old = set(properties.get("Roles") or ()), set(before.get("Roles") or ())
        for role in sorted(new - old):
            context.client("iam").attach_role_policy(RoleName=role, PolicyArn=arn)
        for role in sorted(old - new):
            with tolerate(GONE):
                context.client("iam").detach_role_policy(RoleName=role, PolicyArn=arn)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return IAM's description of the policy."""
        policy = context.client("iam").get_policy(PolicyArn=physical_id)["Policy"]
        return {"PolicyArn": physical_id, **pick(policy, "PolicyId", "AttachmentCount", "DefaultVersionId", "IsAttachable")}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Create a new default version and attach it to the new roles."""
        iam = context.client("iam")
        if changed(properties, before, "PolicyDocument"):
            self._drop_versions(context, physical_id)
            text = document(properties["PolicyDocument"])
            iam.create_policy_version(PolicyArn=physical_id, PolicyDocument=text, SetAsDefault=True)
        self._sync_roles(context, physical_id, properties, before)

    def _drop_versions(self, context: Context, arn: str) -> None:
        iam = context.client("iam")
        for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]:
            if not version["IsDefaultVersion"]:
                iam.delete_policy_version(PolicyArn=arn, VersionId=version["VersionId"])

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Detach the policy from its roles and delete it."""
        with tolerate(GONE):
            self._sync_roles(context, physical_id, {}, properties)
            self._drop_versions(context, physical_id)
            context.client("iam").delete_policy(PolicyArn=physical_id)


PROVIDERS = (Role(), InlinePolicy(), ManagedPolicy())
