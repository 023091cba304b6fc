"""Define the lifecycle section."""

from enum import StrEnum

from config.local_folder import LocalFolder
from config.section import Change, Section, setting

ON_CREATE = "on_create.sh"


class Follow(StrEnum):
    """The nodes that a deployment changes."""

    LIVE = "live"
    NEW_NODES = "new_nodes"


class FollowFailure(StrEnum):
    """The effect of a node that cannot apply a change on the deployment."""

    FAIL = "fail"
    WARN = "warn"


class LifecycleConfig(Section):
    """Scripts that run on new nodes, in addition to the default scripts or instead of them (docs/operate/lifecycle.md)."""

    source: LocalFolder | None = setting(
        "folder of scripts that replaces the default scripts, relative to the cluster file, e.g. `../scripts`",
        Change.NEW_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].LifeCycleConfig.SourceS3Uri",
    )
    on_create: str = setting(
        "script in `source` that HyperPod starts on every node",
        Change.NEW_NODES,
        ON_CREATE,
        pattern=r"^[a-zA-Z0-9_-][a-zA-Z0-9._-]*$",
        max_length=128,
        api="sagemaker:CreateCluster InstanceGroups[].LifeCycleConfig.OnCreate",
    )
    extra: LocalFolder | None = setting(
        "folder of scripts that run between the default scripts, in `before_slurm/`, `after_slurm/` and `controller_ready/`, and "
        "in `live/` also on running nodes; with `eks`, in `before_kubernetes/` and `after_kubernetes/`; relative to the cluster "
        "file",
        Change.NEW_NODES,
        None,
    )
    message_of_the_day: str | None = setting(
        "message of the day, which users see at login", Change.RUNNING_NODES, None, min_length=1, max_length=4096
    )
    follow: Follow | None = setting(
        "nodes that a deployment changes: running and new ones (`live`), or only `new_nodes`; default: `live`, with `source` "
        "`new_nodes` (see docs/operate/running-nodes.md)",
        Change.NEW_NODES,
        None,
    )
    on_follow_failure: FollowFailure = setting(
        "effect of a running node that cannot apply a change: `fail` rolls the deployment back, `warn` stops at that node and "
        "reports it in the output `Rollout`",
        Change.NOTHING,
        FollowFailure.FAIL,
    )

    @property
    def has_agent(self) -> bool:
        """Return whether nodes run the agent that follows the cluster file and reports."""
        return self.source is None and self.follow is not Follow.NEW_NODES
