"""EventBridge: rules on the default bus."""

from local_aws.cloudformation.resources.provider import Context, Provider, changed, document, pick, tolerate
from local_aws.cloudformation.template import Json

GONE = "ResourceNotFoundException"


class Rule(Provider):
    """AWS::Events::Rule with an event pattern; its tags cannot be updated."""

    type = "AWS::Events::Rule"
    acts_on = (
        "Description",
        "EventPattern",
        "Name",
        "State",
        "Tags",
        "Targets/Arn",
        "Targets/Id",
        "Targets/Input",
        "Targets/InputPath",
        "Targets/InputTransformer",
        "Targets/RetryPolicy",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the rule with its targets and return its name."""
        name = str(properties.get("Name") or context.unique_name(64))
        tags = context.tags(properties)
        self._put(context, name, properties, {"Tags": tags} if tags else {})
        context.identify(name)
        self._sync_targets(context, name, properties, {})
        return name

    def _put(self, context: Context, name: str, properties: Json, further: Json) -> None:
        text = document(properties["EventPattern"])
        context.client("events").put_rule(Name=name, EventPattern=text, **pick(properties, "Description", "State"), **further)

    def _sync_targets(self, context: Context, name: str, properties: Json, before: Json) -> None:
        new, old = properties.get("Targets") or [], before.get("Targets") or []
        gone = [target["Id"] for target in old if target["Id"] not in {one["Id"] for one in new}]
        if gone:
            with tolerate(GONE):
                context.client("events").remove_targets(Rule=name, Ids=gone)
        if new:
            context.client("events").put_targets(Rule=name, Targets=new)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and name."""
        return {"Arn": context.arn("events", f"rule/{physical_id}"), "RuleName": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the pattern, state and targets."""
        if changed(properties, before, "EventPattern", "Description", "State"):
            self._put(context, physical_id, {"State": "ENABLED"} | properties, {})
        self._sync_targets(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the rule and its targets."""
        with tolerate(GONE):
            self._sync_targets(context, physical_id, {}, properties)
            context.client("events").delete_rule(Name=physical_id)


PROVIDERS = (Rule(),)
