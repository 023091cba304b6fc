"""SageMaker: HyperPod clusters as a native CloudFormation type.

AWS's handler is not public. Assumed here: it waits for the cluster to be InService but not for its nodes, an update that the
service rolled back is a failure, and groups removed from the template are deleted.
"""

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider, changed, pick, tag_changes, tolerate
from local_aws.cloudformation.template import Json

SETTINGS = ("AutoScaling", "ClusterRole", "NodeProvisioningMode", "NodeRecovery", "Orchestrator", "TieredStorageConfig")
CAN_CHANGE = (*SETTINGS, "InstanceGroups")
LONGEST_WAIT_S = 12 * 3600
GONE = ("ResourceNotFound", "ResourceNotFoundException")


def _counts(properties: Json) -> dict[str, int]:
    return {group["InstanceGroupName"]: group["InstanceCount"] for group in properties.get("InstanceGroups") or ()}


class Cluster(Provider):
    """AWS::SageMaker::Cluster."""

    type = "AWS::SageMaker::Cluster"
    acts_on = ("ClusterName", "Tags", "VpcConfig", *CAN_CHANGE)

    def create(self, context: Context, properties: Json) -> str:
        """Create the cluster and return its ARN."""
        arguments = pick(properties, "VpcConfig", *CAN_CHANGE)
        name = properties.get("ClusterName") or context.unique_name(63)
        tags = [tag for tag in context.tags(properties) if not tag["Key"].startswith("aws:")]
        answer = context.client("sagemaker").create_cluster(ClusterName=name, **arguments, Tags=tags)
        return str(answer["ClusterArn"])

    def _describe(self, context: Context, arn: str) -> Json:
        found: Json = context.client("sagemaker").describe_cluster(ClusterName=arn)
        return found

    def settle(self, context: Context, physical_id: str, properties: Json) -> None:
        """Wait until the cluster is in service with the requested counts."""

        def look() -> Json | None:
            found = self._describe(context, physical_id)
            if found["ClusterStatus"] == "Failed":
                raise ResourceError(found.get("FailureMessage") or "the cluster is Failed")
            return found if found["ClusterStatus"] == "InService" else None

        found = context.until(look, timeout_s=LONGEST_WAIT_S, every_s=30)
        have = {group["InstanceGroupName"]: group["TargetCount"] for group in found["InstanceGroups"]}
        if any(have.get(name) != count for name, count in _counts(properties).items()):
            raise ResourceError(found.get("FailureMessage") or f"the cluster was rolled back to {have}")

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN, status, creation time and failure reason."""
        found = self._describe(context, physical_id)
        return {
            "ClusterArn": physical_id,
            "ClusterStatus": found["ClusterStatus"],
            "CreationTime": found["CreationTime"].isoformat(),
            "FailureMessage": found.get("FailureMessage", ""),
        }

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the groups, settings and tags."""
        client = context.client("sagemaker")
        if changed(properties, before, *CAN_CHANGE):
            removed = sorted(_counts(before).keys() - _counts(properties).keys())
            deletion = {"InstanceGroupsToDelete": removed} if removed else {}
            client.update_cluster(ClusterName=physical_id, **pick(properties, *CAN_CHANGE), **deletion)
        added, taken = tag_changes(properties, before)
        if taken:
            client.delete_tags(ResourceArn=physical_id, TagKeys=taken)
        if added:
            client.add_tags(ResourceArn=physical_id, Tags=added)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the cluster and wait until it is gone."""
        with tolerate(*GONE):
            if self._describe(context, physical_id)["ClusterStatus"] != "Deleting":
                context.client("sagemaker").delete_cluster(ClusterName=physical_id)
            context.until(lambda: None if self._describe(context, physical_id) else True, timeout_s=LONGEST_WAIT_S, every_s=30)


PROVIDERS = (Cluster(),)
