"""Define the lifecycle section."""

from config.local_folder import LocalFolder
from config.section import Change, Section, setting

ON_CREATE = "on_create.sh"


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
        "folder of scripts that run between the default scripts, in `before_slurm/`, `after_slurm/` and `controller_ready/`; "
        "relative to the cluster file",
        Change.NEW_NODES,
        None,
    )
    message_of_the_day: str | None = setting(
        "message of the day, which users see at login", Change.NEW_NODES, None, min_length=1, max_length=4096
    )
