"""ECR: repositories."""

from local_aws.cloudformation.resources.provider import Context, Provider, changed, document, retag, tolerate
from local_aws.cloudformation.template import Json


class Repository(Provider):
    """AWS::ECR::Repository."""

    type = "AWS::ECR::Repository"
    acts_on = (
        "EmptyOnDelete",
        "ImageScanningConfiguration",
        "ImageTagMutability",
        "LifecyclePolicy",
        "RepositoryName",
        "RepositoryPolicyText",
        "Tags",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the repository and return its name."""
        name = str(properties.get("RepositoryName") or context.unique_name(200).lower())
        context.client("ecr").create_repository(
            repositoryName=name,
            imageTagMutability=properties.get("ImageTagMutability", "MUTABLE"),
            imageScanningConfiguration={"scanOnPush": properties.get("ImageScanningConfiguration", {}).get("ScanOnPush", False)},
            tags=context.tags(properties),
        )
        context.identify(name)
        self._sync(context, name, properties, {})
        return name

    def _sync(self, context: Context, name: str, properties: Json, before: Json) -> None:
        ecr = context.client("ecr")
        if changed(properties, before, "RepositoryPolicyText"):
            policy = properties.get("RepositoryPolicyText")
            if policy:
                ecr.set_repository_policy(repositoryName=name, policyText=document(policy))
            else:
                ecr.delete_repository_policy(repositoryName=name)
        if changed(properties, before, "LifecyclePolicy"):
            text = properties.get("LifecyclePolicy", {}).get("LifecyclePolicyText")
            if text:
                ecr.put_lifecycle_policy(repositoryName=name, lifecyclePolicyText=text)
            else:
                ecr.delete_lifecycle_policy(repositoryName=name)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and address."""
        found = context.client("ecr").describe_repositories(repositoryNames=[physical_id])["repositories"][0]
        return {"Arn": found["repositoryArn"], "RepositoryUri": found["repositoryUri"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the policies, mutability, scanning and tags."""
        ecr = context.client("ecr")
        if changed(properties, before, "ImageTagMutability"):
            mutability = properties.get("ImageTagMutability", "MUTABLE")
            ecr.put_image_tag_mutability(repositoryName=physical_id, imageTagMutability=mutability)
        if changed(properties, before, "ImageScanningConfiguration"):
            scan = {"scanOnPush": properties.get("ImageScanningConfiguration", {}).get("ScanOnPush", False)}
            ecr.put_image_scanning_configuration(repositoryName=physical_id, imageScanningConfiguration=scan)
        self._sync(context, physical_id, properties, before)
        retag(ecr, properties, before, resourceArn=self.attributes(context, physical_id, properties)["Arn"])

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the repository; delete its images only if the template says so."""
        with tolerate("RepositoryNotFoundException"):
            context.client("ecr").delete_repository(repositoryName=physical_id, force=properties.get("EmptyOnDelete", False))


PROVIDERS = (Repository(),)
