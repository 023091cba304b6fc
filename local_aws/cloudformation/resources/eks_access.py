"""EKS: access entries and Pod Identity associations."""

from local_aws.cloudformation.resources.eks_calls import GONE, lower, pick, retag, with_tags
from local_aws.cloudformation.resources.provider import Context, Provider, changed, tolerate
from local_aws.cloudformation.template import Json


class PodIdentityAssociation(Provider):
    """AWS::EKS::PodIdentityAssociation."""

    type = "AWS::EKS::PodIdentityAssociation"
    CAN_CHANGE = ("DisableSessionTags", "Policy", "RoleArn", "TargetRoleArn")
    acts_on = ("ClusterName", "Namespace", "ServiceAccount", "Tags", *CAN_CHANGE)

    def create(self, context: Context, properties: Json) -> str:
        """Create the association and return its ARN."""
        arguments = pick(properties, *(name for name in self.acts_on if name != "Tags"))
        answer = context.client("eks").create_pod_identity_association(**arguments, **with_tags(context, properties))
        return str(answer["association"]["associationArn"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and id."""
        return {"AssociationArn": physical_id, "AssociationId": physical_id.rsplit("/", 1)[-1], "ExternalId": ""}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the role and tags."""
        if changed(properties, before, *self.CAN_CHANGE):
            names = {"clusterName": properties["ClusterName"], "associationId": physical_id.rsplit("/", 1)[-1]}
            context.client("eks").update_pod_identity_association(**names, **pick(properties, *self.CAN_CHANGE))
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the association."""
        names = {"clusterName": properties["ClusterName"], "associationId": physical_id.rsplit("/", 1)[-1]}
        with tolerate(GONE):
            context.client("eks").delete_pod_identity_association(**names)


class AccessEntry(Provider):
    """AWS::EKS::AccessEntry with its access policies."""

    type = "AWS::EKS::AccessEntry"
    acts_on = ("AccessPolicies", "ClusterName", "KubernetesGroups", "PrincipalArn", "Tags", "Type", "Username")

    def create(self, context: Context, properties: Json) -> str:
        """Create the entry and return its principal and cluster."""
        arguments = pick(properties, *(name for name in self.acts_on if name not in ("AccessPolicies", "Tags")))
        context.client("eks").create_access_entry(**arguments, **with_tags(context, properties))
        physical_id = f"{properties['PrincipalArn']}|{properties['ClusterName']}"
        context.identify(physical_id)
        self._sync_policies(context, physical_id, properties, {})
        return physical_id

    def _sync_policies(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        eks, names = context.client("eks"), _entry(physical_id)
        new, old = (
            {item["PolicyArn"]: lower(item["AccessScope"]) for item in each.get("AccessPolicies") or ()}
            for each in (properties, before)
        )
        for arn in old.keys() - new.keys():
            with tolerate(GONE):
                eks.disassociate_access_policy(**names, policyArn=arn)
        for arn, scope in new.items():
            if old.get(arn) != scope:
                eks.associate_access_policy(**names, policyArn=arn, accessScope=scope)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN."""
        found = context.client("eks").describe_access_entry(**_entry(physical_id))["accessEntry"]
        return {"AccessEntryArn": found["accessEntryArn"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change groups, user name, policies and tags."""
        if changed(properties, before, "KubernetesGroups", "Username"):
            arguments = {"kubernetesGroups": [], **pick(properties, "KubernetesGroups", "Username")}
            context.client("eks").update_access_entry(**_entry(physical_id), **arguments)
        self._sync_policies(context, physical_id, properties, before)
        arn = self.attributes(context, physical_id, properties)["AccessEntryArn"]
        retag(context, arn, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the entry with its policies."""
        with tolerate(GONE):
            context.client("eks").delete_access_entry(**_entry(physical_id))


def _entry(physical_id: str) -> Json:
    principal, cluster = physical_id.rsplit("|", 1)
    return {"clusterName": cluster, "principalArn": principal}


PROVIDERS = (PodIdentityAssociation(), AccessEntry())
