"""The lifecycle section of a cluster file: what of the user's own runs on the nodes."""

from config.local_folder import OwnFolder
from config.section import Change, Section, setting

ON_CREATE = "on_create.sh"


class LifecycleConfig(Section):
    """What runs on a node when it is made, beside or instead of our scripts (docs/operate/lifecycle.md)."""

    source: OwnFolder | None = setting(
        "folder of your own scripts that replaces ours, from the cluster file's own folder, e.g. `../scripts`",
        Change.NEW_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].LifeCycleConfig.SourceS3Uri",
    )
    on_create: str = setting(
        "the script in `source` that HyperPod starts on every node",
        Change.NEW_NODES,
        ON_CREATE,
        pattern=r"^[a-zA-Z0-9_-][a-zA-Z0-9._-]*$",
        max_length=128,
        api="sagemaker:CreateCluster InstanceGroups[].LifeCycleConfig.OnCreate",
    )
    extra: OwnFolder | None = setting(
        "folder of your own scripts that run between ours, in `before_slurm/`, `after_slurm/` and `controller_ready/`; "
        "from the cluster file's own folder",
        Change.NEW_NODES,
        None,
    )
    message_of_the_day: str | None = setting(
        "what users read when they log in", Change.NEW_NODES, None, min_length=1, max_length=4096
    )
