"""Define the monitoring section."""

from typing import Annotated

from pydantic import StrictBool, StrictFloat, StrictInt, StringConstraints

from config.section import Change, Section, setting

TOPIC_PATTERN = r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$"
Email = Annotated[str, StringConstraints(pattern=r"^[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s.,;<>]+$", max_length=254)]
Percent = StrictInt | StrictFloat


class SlackChannel(Section):
    """A Slack channel, in a workspace that is authorized in Amazon Q Developer in chat applications."""

    workspace_id: str = setting(
        "ID of the workspace, e.g. `T0123ABCD`",
        Change.IN_TWO_DEPLOYMENTS,
        pattern=r"^[0-9A-Z]{1,255}$",
        api="chatbot:CreateSlackChannelConfiguration SlackTeamId",
    )
    channel_id: str = setting(
        "ID of the channel, e.g. `C0123ABCD`",
        Change.IN_PLACE,
        pattern=r"^[A-Za-z0-9]{1,255}$",
        api="chatbot:CreateSlackChannelConfiguration SlackChannelId",
    )


class TeamsChannel(Section):
    """A Microsoft Teams channel, in a team that is authorized in Amazon Q Developer in chat applications."""

    tenant_id: str = setting(
        "ID of the tenant",
        Change.IN_TWO_DEPLOYMENTS,
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        api="chatbot:CreateMicrosoftTeamsChannelConfiguration TenantId",
    )
    team_id: str = setting(
        "ID of the team",
        Change.IN_TWO_DEPLOYMENTS,
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        api="chatbot:CreateMicrosoftTeamsChannelConfiguration TeamId",
    )
    channel_id: str = setting(
        "ID of the channel, as in its link, e.g. `19%3A...%40thread.tacv2`",
        Change.IN_PLACE,
        pattern=r"^\S{1,255}$",
        api="chatbot:CreateMicrosoftTeamsChannelConfiguration ChannelId",
    )


class MonitoringConfig(Section):
    """Alarms, notifications and a dashboard, in a separate stack (docs/operate/monitoring.md)."""

    enabled: StrictBool = setting(
        "create the monitoring stack; `false` does not delete a deployed one", Change.IN_PLACE, default=True
    )
    topic_arn: str | None = setting(
        "existing SNS topic for all notifications; default: a new encrypted topic",
        Change.IN_PLACE,
        None,
        pattern=TOPIC_PATTERN,
        api="cloudwatch:PutMetricAlarm AlarmActions",
    )
    emails: tuple[Email, ...] = setting(
        "e-mail addresses to notify; each recipient must confirm the subscription",
        Change.IN_PLACE,
        (),
        max_length=100,
        api="sns:Subscribe Endpoint",
    )
    slack: SlackChannel | None = setting("Slack channel to notify", Change.IN_PLACE, None)
    teams: TeamsChannel | None = setting("Microsoft Teams channel to notify", Change.IN_PLACE, None)
    drained_nodes: StrictInt = setting("number of drained nodes that raises the alarm", Change.IN_PLACE, 1, ge=1, le=100000)
    free_disk_percent: Percent = setting(
        "minimum free space of each disk and file system on a node", Change.IN_PLACE, 10, gt=0, lt=100
    )
    free_storage_percent: Percent = setting(
        "minimum free space of the FSx for Lustre file system", Change.IN_PLACE, 10, gt=0, lt=100
    )
    throughput_percent: Percent = setting(
        "share of the file system's throughput that raises the alarm after 15 minutes", Change.IN_PLACE, 90, gt=0, le=100
    )
