"""SNS: topics, their policies and subscriptions."""

import json
from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.resources.provider import Context, Provider, changed, retag, tolerate
from local_aws.cloudformation.template import Json

GONE = "NotFound"
_ATTRIBUTES = ("DisplayName", "KmsMasterKeyId")


class Topic(Provider):
    """AWS::SNS::Topic."""

    type = "AWS::SNS::Topic"
    acts_on = ("DisplayName", "KmsMasterKeyId", "Tags", "TopicName")

    def create(self, context: Context, properties: Json) -> str:
        """Create the topic and return its ARN."""
        name = str(properties.get("TopicName") or context.unique_name(256))
        attributes = {key: properties[key] for key in _ATTRIBUTES if key in properties}
        tags = context.tags(properties)
        return str(context.client("sns").create_topic(Name=name, Attributes=attributes, Tags=tags)["TopicArn"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and name."""
        return {"TopicArn": physical_id, "TopicName": physical_id.rsplit(":", 1)[-1]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the attributes and tags."""
        sns = context.client("sns")
        for name in _ATTRIBUTES:
            if changed(properties, before, name):
                sns.set_topic_attributes(TopicArn=physical_id, AttributeName=name, AttributeValue=properties.get(name, ""))
        retag(sns, properties, before, ResourceArn=physical_id)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the topic with its subscriptions; SNS accepts an absent one."""
        context.client("sns").delete_topic(TopicArn=physical_id)


class TopicPolicy(Provider):
    """AWS::SNS::TopicPolicy."""

    type = "AWS::SNS::TopicPolicy"
    acts_on = ("PolicyDocument", "Topics")

    def create(self, context: Context, properties: Json) -> str:
        """Set the policy of the topics."""
        for topic in properties["Topics"]:
            context.client("sns").set_topic_attributes(
                TopicArn=topic, AttributeName="Policy", AttributeValue=json.dumps(properties["PolicyDocument"])
            )
        return context.unique_name(256)

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Replace the policy."""
        self.create(context, properties)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Leave the policy, as it is deleted with its topic."""


class Subscription(Provider):
    """AWS::SNS::Subscription; an e-mail subscription counts as confirmed, and no mail is sent."""

    type = "AWS::SNS::Subscription"
    acts_on = ("Endpoint", "Protocol", "TopicArn")
    without_effect: ClassVar[Mapping[str, str]] = {"Region": "topics of other regions are not supported"}

    def create(self, context: Context, properties: Json) -> str:
        """Subscribe the endpoint and return the subscription's ARN."""
        arguments = {name: properties[name] for name in self.acts_on if name in properties}
        return str(context.client("sns").subscribe(ReturnSubscriptionArn=True, **arguments)["SubscriptionArn"])

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the subscription."""
        with tolerate(GONE):
            context.client("sns").unsubscribe(SubscriptionArn=physical_id)


PROVIDERS = (Topic(), TopicPolicy(), Subscription())
