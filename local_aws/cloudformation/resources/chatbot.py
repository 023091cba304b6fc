"""Amazon Q Developer in chat applications: channels, which receive nothing here."""

from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider
from local_aws.cloudformation.template import Json

_NO_SERVICE = "there is no chat service"


class _Channel(Provider):
    """A channel configuration; neither the service nor its API is part of the embedded AWS."""

    kind: ClassVar[str]
    place: ClassVar[tuple[str, ...]]
    """The workspace or team, whose change replaces the channel."""

    def check_update(self, properties: Json, before: Json) -> None:
        """Refuse a second channel of the same name: a replacement is created before the old one is deleted."""
        moved = any(properties.get(name) != before.get(name) for name in self.place)
        if moved and properties["ConfigurationName"] == before["ConfigurationName"]:
            raise ResourceError(f"configuration {properties['ConfigurationName']} already exists")

    def create(self, context: Context, properties: Json) -> str:
        """Return the ARN of the configuration."""
        account, name = context.account, properties["ConfigurationName"]
        return f"arn:aws:chatbot::{account}:chat-configuration/{self.kind}/{name}"

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN."""
        return {"Arn": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Accept any change."""

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Do nothing: there is no state."""


class SlackChannel(_Channel):
    """AWS::Chatbot::SlackChannelConfiguration."""

    type = "AWS::Chatbot::SlackChannelConfiguration"
    kind = "slack-channel"
    place = ("SlackWorkspaceId",)
    acts_on = ("ConfigurationName",)
    without_effect: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("IamRoleArn", "SlackChannelId", "SlackWorkspaceId", "SnsTopicArns", "Tags"), _NO_SERVICE
    )


class TeamsChannel(_Channel):
    """AWS::Chatbot::MicrosoftTeamsChannelConfiguration."""

    type = "AWS::Chatbot::MicrosoftTeamsChannelConfiguration"
    kind = "teams-channel"
    place = ("TeamId", "TeamsTenantId")
    acts_on = ("ConfigurationName",)
    without_effect: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("IamRoleArn", "SnsTopicArns", "Tags", "TeamId", "TeamsChannelId", "TeamsTenantId"), _NO_SERVICE
    )


PROVIDERS = (SlackChannel(), TeamsChannel())
