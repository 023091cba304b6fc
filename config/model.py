"""A cluster as its YAML file describes it. Section by section, the fields stand in the modules beside this one."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import StrictBool, StrictInt, StringConstraints

from config.instance_group import InstanceGroup, Name
from config.lifecycle import LifecycleConfig
from config.network import NetworkConfig
from config.section import Change, Removal, Section, setting
from config.silence import Silence
from config.slurm import SlurmConfig
from config.storage import StorageConfig
from config.users import User, UserGroup

FILE_NAME = "[a-z][a-z0-9-]{1,30}"


class NodeRecovery(StrEnum):
    """What HyperPod does with a node that fails its health checks."""

    AUTOMATIC = "Automatic"
    NONE = "None"


class Wait(StrEnum):
    """When a deployment is done."""

    NODES = "nodes"
    CLUSTER = "cluster"
    NONE = "none"


class Implementation(StrEnum):
    """What makes the cluster."""

    CUSTOM_RESOURCE = "custom_resource"
    NATIVE = "native"
    NONE = "none"


class ClusterConfig(Section):
    """One cluster, as one YAML file describes it."""

    name: Annotated[str, StringConstraints(pattern=f"^{FILE_NAME}$")] = setting(
        "not in the file: the file's own name without `.yaml`; it names the stage and its stacks", Change.REPLACES_CLUSTER
    )
    region: str | None = setting(
        "the AWS region; without it, the one that the CDK finds",
        Change.REPLACES_CLUSTER,
        None,
        pattern=r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$",
    )
    account: str | None = setting(
        "the AWS account, 12 digits in quotes; without it, the one that the CDK finds",
        Change.REPLACES_CLUSTER,
        None,
        pattern=r"^[0-9]{12}$",
    )
    cluster_name: Name | None = setting(
        "a fixed ClusterName; without it a name is generated, and a change that replaces the cluster can make the new one first",
        Change.REPLACES_CLUSTER,
        None,
        api="sagemaker:CreateCluster ClusterName",
    )
    network: NetworkConfig = setting("where the nodes live", Change.REPLACES_CLUSTER)
    storage: StorageConfig = setting("where data lives", Change.NEW_NODES, StorageConfig())
    instance_groups: tuple[InstanceGroup, ...] = setting(
        "the nodes", Change.IN_PLACE, min_length=1, max_length=100, api="sagemaker:CreateCluster InstanceGroups"
    )
    users: tuple[User, ...] = setting("the people who use the cluster", Change.NEW_NODES, (), max_length=1000)
    user_groups: tuple[UserGroup, ...] = setting("groups of theirs", Change.NEW_NODES, (), max_length=1000)
    slurm: SlurmConfig = setting("how Slurm is set up", Change.NEW_NODES, SlurmConfig())
    lifecycle: LifecycleConfig = setting("your own scripts on the nodes", Change.NEW_NODES, LifecycleConfig())
    node_recovery: NodeRecovery | None = setting(
        "whether nodes that fail their health checks are replaced; without it, HyperPod's own default",
        Change.IN_PLACE,
        None,
        api="sagemaker:CreateCluster NodeRecovery",
    )
    wait: Wait = setting(
        "when a deployment is done: once all `nodes` run that it asked for (in a group with `MinInstanceCount`: that many), once "
        "the `cluster` is InService, or, with `none`, once HyperPod has accepted the request",
        Change.NOTHING,
        Wait.NODES,
    )
    wait_hours: StrictInt = setting(
        "hours that a deployment waits for the nodes (deep health checks take up to two)", Change.NOTHING, 1, ge=1, le=12
    )
    trust_source_account: StrictBool = setting(
        "let the node role's trust policy ask for aws:SourceAccount; nobody has shown yet that HyperPod sends it",
        Change.IN_PLACE,
        default=False,
    )
    adopt: StrictBool = setting(
        "take over the cluster that has this `cluster_name` already; while this is set, no rollback and no `cdk destroy` deletes "
        "it (see docs/change/adopt.md)",
        Change.NOTHING,
        default=False,
    )
    recreate: StrictBool = setting(
        "make the cluster anew where a deployment finds that somebody deleted it; without it, such a deployment fails",
        Change.NOTHING,
        default=False,
    )
    removal: Removal = setting(
        "what `cdk destroy` does with the cluster; `retain` leaves it running, with its role, scripts and network",
        Change.NOTHING,
        Removal.DESTROY,
    )
    implementation: Implementation = setting(
        "what makes the cluster: our `custom_resource`, CloudFormation's `native` AWS::SageMaker::Cluster, or, on the way from "
        "one to the other, `none`; CloudFormation refuses to go there directly (see docs/change/implementation.md)",
        Change.REPLACES_CLUSTER,
        Implementation.CUSTOM_RESOURCE,
    )
    alarm_topic_arn: str | None = setting(
        "SNS topic that is told of requests that CloudFormation hears or shows nothing of: an answer that did not get through, a "
        "deletion that failed at the end of an update; the alarms are there without it, too",
        Change.IN_PLACE,
        None,
        pattern=r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$",
        api="cloudwatch:PutMetricAlarm AlarmActions",
    )
    silence: tuple[Silence, ...] = setting(
        "warnings that are not to be told any more, each with the reason", Change.NOTHING, (), max_length=100
    )
    tags: dict[str, str] = setting(
        "tags of everything that is made", Change.IN_PLACE, {}, max_length=40, api="sagemaker:CreateCluster Tags"
    )
    overrides: dict[str, Any] = setting(
        "fields of CreateCluster, verbatim; they win over ours, and `null` leaves one of ours out", Change.IN_PLACE, {}
    )
