"""KMS: keys and aliases."""

from local_aws.cloudformation.resources.provider import Context, Provider, changed, document, pick, retag, tolerate
from local_aws.cloudformation.template import Json

GONE = "NotFoundException"


def _policy(properties: Json) -> dict[str, str]:
    policy = properties.get("KeyPolicy")
    return {"Policy": document(policy)} if policy else {}


def _tags(tags: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in tags]


class Key(Provider):
    """AWS::KMS::Key."""

    type = "AWS::KMS::Key"
    acts_on = ("Description", "EnableKeyRotation", "Enabled", "KeyPolicy", "KeySpec", "KeyUsage", "PendingWindowInDays", "Tags")

    def create(self, context: Context, properties: Json) -> str:
        """Create the key and return its id."""
        tags = _tags(context.tags(properties))
        answer = context.client("kms").create_key(
            **_policy(properties), **pick(properties, "Description", "KeySpec", "KeyUsage"), Tags=tags
        )
        key_id = str(answer["KeyMetadata"]["KeyId"])
        context.identify(key_id)
        self._switch(context, key_id, properties, {})
        return key_id

    def _switch(self, context: Context, key_id: str, properties: Json, before: Json) -> None:
        kms = context.client("kms")
        if changed(properties, before, "EnableKeyRotation"):
            (kms.enable_key_rotation if properties.get("EnableKeyRotation") else kms.disable_key_rotation)(KeyId=key_id)
        if changed(properties, before, "Enabled"):
            (kms.enable_key if properties.get("Enabled", True) else kms.disable_key)(KeyId=key_id)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and id."""
        return {"Arn": context.arn("kms", f"key/{physical_id}"), "KeyId": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the policy, description, switches and tags."""
        kms = context.client("kms")
        if changed(properties, before, "KeyPolicy") and _policy(properties):
            kms.put_key_policy(KeyId=physical_id, PolicyName="default", **_policy(properties))
        if changed(properties, before, "Description"):
            kms.update_key_description(KeyId=physical_id, Description=properties.get("Description", ""))
        self._switch(context, physical_id, properties, before)
        retag(kms, properties, before, _tags, KeyId=physical_id)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Schedule the key's deletion; KMS never deletes a key at once."""
        with tolerate(GONE):
            context.client("kms").schedule_key_deletion(
                KeyId=physical_id, PendingWindowInDays=properties.get("PendingWindowInDays", 30)
            )


class Alias(Provider):
    """AWS::KMS::Alias."""

    type = "AWS::KMS::Alias"
    acts_on = ("AliasName", "TargetKeyId")

    def create(self, context: Context, properties: Json) -> str:
        """Create the alias and return its name."""
        context.client("kms").create_alias(**pick(properties, "AliasName", "TargetKeyId"))
        return str(properties["AliasName"])

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Point the alias at another key."""
        context.client("kms").update_alias(**pick(properties, "AliasName", "TargetKeyId"))

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the alias."""
        with tolerate(GONE):
            context.client("kms").delete_alias(AliasName=physical_id)


PROVIDERS = (Key(), Alias())
