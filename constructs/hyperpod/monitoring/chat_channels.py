"""Define the chat channels that receive a cluster's notifications."""

from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.model import ClusterConfig


class ChatChannels(Construct):
    """Subscribe the Slack and Teams channels of the file, through Amazon Q Developer in chat applications.

    Its role has no permissions: channels show notifications, and cannot run commands.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, topic_arn: str) -> None:
        super().__init__(scope, id)
        slack, teams = config.monitoring.slack, config.monitoring.teams
        if not (slack or teams):
            return
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("chatbot.amazonaws.com")).role_arn
        if slack:
            chatbot.CfnSlackChannelConfiguration(
                self,
                "Slack",
                configuration_name=f"{config.name}-monitoring",
                iam_role_arn=role,
                slack_workspace_id=slack.workspace_id,
                slack_channel_id=slack.channel_id,
                sns_topic_arns=[topic_arn],
            )
        if teams:
            chatbot.CfnMicrosoftTeamsChannelConfiguration(
                self,
                "Teams",
                configuration_name=f"{config.name}-monitoring-teams",
                iam_role_arn=role,
                teams_tenant_id=teams.tenant_id,
                team_id=teams.team_id,
                teams_channel_id=teams.channel_id,
                sns_topic_arns=[topic_arn],
            )
