"""S3: buckets and their policies."""

import json
from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider, changed, tolerate
from local_aws.cloudformation.template import Json

ENCRYPTION = "BucketEncryption/ServerSideEncryptionConfiguration"


class Bucket(Provider):
    """AWS::S3::Bucket, without aws:cloudformation tags: moto refuses tags with that prefix."""

    type = "AWS::S3::Bucket"
    acts_on = (
        f"{ENCRYPTION}/BucketKeyEnabled",
        f"{ENCRYPTION}/ServerSideEncryptionByDefault",
        "BucketName",
        "OwnershipControls",
        "PublicAccessBlockConfiguration",
        "Tags",
        "VersioningConfiguration",
    )
    without_effect: ClassVar[Mapping[str, str]] = {
        "AccessControl": "canned ACLs are not evaluated: only policies grant access",
        "LifecycleConfiguration": "objects expire after days, and no run of the embedded AWS lasts that long",
    }

    def create(self, context: Context, properties: Json) -> str:
        """Create the bucket and return its name."""
        name = properties.get("BucketName") or context.unique_name(63).lower()
        s3 = context.client("s3")
        # In us-east-1, S3 accepts a second creation by the owner, but CloudFormation refuses it.
        if any(bucket["Name"] == name for bucket in s3.list_buckets()["Buckets"]):
            raise ResourceError(f"{name} already exists")
        place = {} if context.region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": context.region}}
        s3.create_bucket(Bucket=name, **place)
        context.identify(name)
        self._sync(context, name, properties, {})
        return str(name)

    def _sync(self, context: Context, name: str, properties: Json, before: Json) -> None:
        if changed(properties, before, "BucketEncryption"):
            self._set_encryption(context, name, properties)
        s3 = context.client("s3")
        if changed(properties, before, "VersioningConfiguration"):
            status = properties.get("VersioningConfiguration", {"Status": "Suspended"})
            s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=status)
        if changed(properties, before, "PublicAccessBlockConfiguration"):
            block = properties.get("PublicAccessBlockConfiguration")
            if block:
                s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=block)
            else:
                s3.delete_public_access_block(Bucket=name)
        if changed(properties, before, "OwnershipControls"):
            self._set_ownership(context, name, properties)
        if changed(properties, before, "Tags"):
            s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": properties.get("Tags") or []})

    def _set_encryption(self, context: Context, name: str, properties: Json) -> None:
        rules = properties.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration") or []
        if not rules:
            context.client("s3").delete_bucket_encryption(Bucket=name)
            return
        listed = [_encryption_rule(rule) for rule in rules]
        context.client("s3").put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": listed})

    def _set_ownership(self, context: Context, name: str, properties: Json) -> None:
        if "OwnershipControls" in properties:
            context.client("s3").put_bucket_ownership_controls(Bucket=name, OwnershipControls=properties["OwnershipControls"])
        else:
            context.client("s3").delete_bucket_ownership_controls(Bucket=name)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and host names."""
        region = context.region
        return {
            "Arn": f"arn:aws:s3:::{physical_id}",
            "DomainName": f"{physical_id}.s3.amazonaws.com",
            "RegionalDomainName": f"{physical_id}.s3.{region}.amazonaws.com",
            "DualStackDomainName": f"{physical_id}.s3.dualstack.{region}.amazonaws.com",
            "WebsiteURL": f"http://{physical_id}.s3-website-{region}.amazonaws.com",
        }

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the mutable properties."""
        self._sync(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the bucket, which must be empty."""
        with tolerate("NoSuchBucket"):
            context.client("s3").delete_bucket(Bucket=physical_id)


def _encryption_rule(rule: Json) -> Json:
    default = {key: value for key, value in rule["ServerSideEncryptionByDefault"].items() if value}
    listed: Json = {"ApplyServerSideEncryptionByDefault": default}
    return listed | ({"BucketKeyEnabled": rule["BucketKeyEnabled"]} if "BucketKeyEnabled" in rule else {})


class BucketPolicy(Provider):
    """AWS::S3::BucketPolicy."""

    type = "AWS::S3::BucketPolicy"
    acts_on = ("Bucket", "PolicyDocument")

    def create(self, context: Context, properties: Json) -> str:
        """Put the policy and return the bucket's name."""
        document = properties["PolicyDocument"]
        text = document if isinstance(document, str) else json.dumps(document)
        context.client("s3").put_bucket_policy(Bucket=properties["Bucket"], Policy=text)
        return str(properties["Bucket"])

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Put the new policy."""
        self.create(context, properties)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the policy."""
        with tolerate("NoSuchBucket", "NoSuchBucketPolicy"):
            context.client("s3").delete_bucket_policy(Bucket=physical_id)


PROVIDERS = (Bucket(), BucketPolicy())
