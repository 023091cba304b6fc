"""Define the SNS topic of a cluster's notifications, and the chat channels that receive them."""

import aws_cdk as cdk
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.monitoring.topic_arn import topic_name

ALARMS, EVENTS = "cloudwatch.amazonaws.com", "events.amazonaws.com"


class NotificationTopic(Construct):
    """Define an encrypted topic with its e-mail subscriptions, or subscribe to the existing topic of the file.

    Alarms cannot publish to a topic with the AWS managed key alias/aws/sns, because its policy cannot allow CloudWatch.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig) -> None:
        super().__init__(scope, id)
        self.topic_arn = config.monitoring.topic_arn or self._define(config)
        for email in config.monitoring.emails:
            sns.CfnSubscription(self, email, protocol="email", endpoint=email, topic_arn=self.topic_arn)

    def _define(self, config: ClusterConfig) -> str:
        topic = sns.CfnTopic(self, "Resource", topic_name=topic_name(config), kms_master_key_id=self._key().attr_key_id)
        publish = {
            "Sid": "PublishNotifications",
            "Effect": "Allow",
            "Principal": {"Service": [ALARMS, EVENTS]},
            "Action": "sns:Publish",
            "Resource": topic.ref,
            "Condition": _from_this_account(),
        }
        insecure = {
            "Sid": "RequireSecureTransport",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sns:Publish",
            "Resource": topic.ref,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
        sns.CfnTopicPolicy(
            self, "Policy", topics=[topic.ref], policy_document={"Version": "2012-10-17", "Statement": [publish, insecure]}
        )
        return topic.ref

    def _key(self) -> kms.CfnKey:
        administer = {
            "Sid": "AdministerKey",
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:{cdk.Aws.PARTITION}:iam::{cdk.Aws.ACCOUNT_ID}:root"},
            "Action": "kms:*",
            "Resource": "*",
        }
        encrypt = {
            "Sid": "EncryptAlarms",
            "Effect": "Allow",
            "Principal": {"Service": ALARMS},
            "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
            "Resource": "*",
            "Condition": _from_this_account(),
        }
        # SNS supports no aws:SourceAccount or aws:SourceArn here for EventBridge: its events would be lost without an error.
        encrypt_events = {
            "Sid": "EncryptEvents",
            "Effect": "Allow",
            "Principal": {"Service": EVENTS},
            "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
            "Resource": "*",
        }
        key = kms.CfnKey(
            self,
            "Key",
            description=f"Encrypts the notifications of HyperPod cluster {cdk.Stack.of(self).stack_name}",
            enable_key_rotation=True,
            pending_window_in_days=7,
            key_policy={"Version": "2012-10-17", "Statement": [administer, encrypt, encrypt_events]},
        )
        key.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        return key


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


def _from_this_account() -> dict[str, object]:
    return {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}}
