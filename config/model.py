"""Define a cluster file; the other modules define its sections."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import StrictBool, StrictInt, StringConstraints

from config.directory import DirectoryConfig
from config.eks import EksConfig
from config.instance_group import InstanceGroup, Name, Role, SlurmInstanceGroup
from config.lifecycle import LifecycleConfig
from config.monitoring import TOPIC_PATTERN, MonitoringConfig
from config.network import NetworkConfig
from config.node_role import NodeRoleConfig
from config.section import Change, Removal, Section, setting
from config.slurm import ControllerRole, Setup, SlurmConfig
from config.storage import StorageConfig
from config.suppression import Suppression
from config.users import User, UserGroup

# Top-level fields of one orchestrator.
SLURM_FIELDS = ("slurm", "users", "user_groups", "directory")
EKS_FIELDS = ("eks",)
FILE_NAME = "[a-z][a-z0-9-]{1,30}"


class Orchestrator(StrEnum):
    """The scheduler of a cluster."""

    SLURM = "slurm"
    EKS = "eks"


class Provisioning(StrEnum):
    """How HyperPod creates the nodes, unless all at once."""

    CONTINUOUS = "continuous"


class NodeRecovery(StrEnum):
    """HyperPod's action for a node that fails its health checks."""

    AUTOMATIC = "Automatic"
    NONE = "None"


class Wait(StrEnum):
    """The condition for a finished deployment."""

    NODES = "nodes"
    CLUSTER = "cluster"
    NONE = "none"


class ClusterConfig(Section):
    """One cluster, defined by one YAML file."""

    name: Annotated[str, StringConstraints(pattern=f"^{FILE_NAME}$")] = setting(
        "not in the file: the file name without `.yaml`, which names the stacks", Change.SECOND_CLUSTER
    )
    region: str | None = setting(
        "AWS region; default: the CDK's region",
        Change.SECOND_CLUSTER,
        None,
        pattern=r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$",
    )
    account: str | None = setting(
        "AWS account, 12 digits in quotes; default: the CDK's account",
        Change.SECOND_CLUSTER,
        None,
        pattern=r"^[0-9]{12}$",
    )
    cluster_name: Name | None = setting(
        "fixed ClusterName; without it a name is generated, and a replacement can create the new cluster before it deletes the "
        "old one",
        Change.REPLACES_CLUSTER,
        None,
        api="sagemaker:CreateCluster ClusterName",
    )
    network: NetworkConfig = setting("VPC and subnets", Change.REPLACES_BOTH)
    storage: StorageConfig = setting("file systems and buckets", Change.REPLACES_FILE_SYSTEM, StorageConfig())
    instance_groups: tuple[InstanceGroup, ...] = setting(
        "groups of nodes", Change.IN_PLACE, min_length=1, max_length=100, api="sagemaker:CreateCluster InstanceGroups"
    )
    users: tuple[User, ...] = setting("users of the cluster", Change.RUNNING_NODES, (), max_length=1000)
    user_groups: tuple[UserGroup, ...] = setting("groups of users", Change.RUNNING_NODES, (), max_length=1000)
    directory: DirectoryConfig | None = setting(
        "existing LDAP directory or Active Directory whose users can use the cluster", Change.RUNNING_NODES, None
    )
    slurm: SlurmConfig | None = setting("configuration of Slurm, the default orchestrator", Change.NEW_NODES, None)
    eks: EksConfig | None = setting(
        "configuration of Amazon EKS, instead of `slurm` (see docs/operate/eks.md)", Change.REPLACES_CLUSTER, None
    )
    provisioning: Provisioning | None = setting(
        "`continuous`: HyperPod accepts partial capacity, retries workers and reports events; with Slurm, requires "
        "`slurm.setup: api`; set only at creation; default: all nodes or none",
        Change.AT_CREATION,
        None,
        api="sagemaker:CreateCluster NodeProvisioningMode",
    )
    lifecycle: LifecycleConfig = setting("custom scripts on the nodes", Change.NEW_NODES, LifecycleConfig())
    node_recovery: NodeRecovery | None = setting(
        "action for nodes that fail their health checks; default: HyperPod's",
        Change.IN_PLACE,
        None,
        api="sagemaker:CreateCluster NodeRecovery",
    )
    wait: Wait = setting(
        "condition for a finished deployment: all requested `nodes` run (in a group with `min_instance_count`: that many), the "
        "`cluster` is InService, or HyperPod accepted the request (`none`)",
        Change.NOTHING,
        Wait.NODES,
    )
    wait_hours: StrictInt = setting(
        "timeout of a deployment in hours (deep health checks take up to two)", Change.NOTHING, 1, ge=1, le=12
    )
    node_role: NodeRoleConfig = setting("additions to the role of the nodes", Change.IN_PLACE, NodeRoleConfig())
    trust_source_account: StrictBool = setting(
        "check aws:SourceAccount in the node role's trust policy; not confirmed that HyperPod sends it",
        Change.IN_PLACE,
        default=False,
    )
    adopt: StrictBool = setting(
        "adopt the existing cluster with this `cluster_name`; while this is set, neither a rollback nor `cdk destroy` deletes "
        "it (see docs/change/adopt.md)",
        Change.NOTHING,
        default=False,
    )
    recreate: StrictBool = setting(
        "recreate the cluster if it was deleted outside CloudFormation; otherwise the deployment fails",
        Change.NOTHING,
        default=False,
    )
    removal: Removal = setting(
        "effect of `cdk destroy` on the cluster; `retain` keeps it running, with its role, scripts and network; with a new EKS "
        "cluster, requires `eks.removal: retain`",
        Change.NOTHING,
        Removal.DESTROY,
    )
    monitoring: MonitoringConfig = setting("alarms, notifications and the dashboard", Change.IN_PLACE, MonitoringConfig())
    alarm_topic_arn: str | None = setting(
        "SNS topic for failures that CloudFormation does not report: a lost response, or a failed deletion at the end of an "
        "update; default: the topic of `monitoring`",
        Change.IN_PLACE,
        None,
        pattern=TOPIC_PATTERN,
        api="cloudwatch:PutMetricAlarm AlarmActions",
    )
    suppress: tuple[Suppression, ...] = setting("warnings to suppress, each with a reason", Change.NOTHING, (), max_length=100)
    tags: dict[str, str] = setting(
        "tags of all created resources", Change.IN_PLACE, {}, max_length=40, api="sagemaker:CreateCluster Tags"
    )
    overrides: dict[str, Any] = setting(
        "members of CreateCluster, which take precedence; `null` removes a member", Change.IN_PLACE, {}
    )

    def role_names(self) -> dict[str, str]:
        """Return the role of each instance group that has one, by the group's name."""
        return {group.name: group.role.value for group in self.instance_groups if group.role}

    @property
    def orchestrator(self) -> Orchestrator:
        """Return the scheduler: EKS with an `eks` section, otherwise Slurm."""
        return Orchestrator.SLURM if self.eks is None else Orchestrator.EKS

    @property
    def renders_chart(self) -> bool:
        """Return whether a Helm chart replaces the deployment's objects."""
        return self.eks is not None and self.eks.helm_chart is not None

    @property
    def creates_eks_cluster(self) -> bool:
        """Return whether the deployment creates the EKS cluster."""
        return self.eks is not None and self.eks.existing is None

    @property
    def eks_cluster_name(self) -> str | None:
        """Return the name of the EKS cluster, new or existing; a Slurm cluster has none."""
        if self.eks is None:
            return None
        return self.eks.existing.name if self.eks.existing else self.name

    @property
    def retains_network(self) -> bool:
        """Return whether `cdk destroy` keeps a VPC that the deployment created."""
        return self.removal is Removal.RETAIN or self.storage.retains_file_systems or self.retains_eks_cluster

    @property
    def retains_eks_cluster(self) -> bool:
        """Return whether `cdk destroy` keeps a created EKS cluster, and the network that it uses."""
        return self.eks is not None and self.eks.existing is None and self.eks.removal is Removal.RETAIN

    @property
    def keeps_cluster(self) -> bool:
        """Return whether `cdk destroy` leaves the HyperPod cluster running."""
        return self.adopt or self.removal is Removal.RETAIN

    @property
    def uses_slurm_api(self) -> bool:
        """Return whether HyperPod configures Slurm from the request."""
        return self.slurm is not None and self.slurm.setup is Setup.API

    @property
    def has_controller_role(self) -> bool:
        """Return whether the controllers have a role of their own."""
        return self.slurm is not None and self.slurm.controller_role is ControllerRole.OWN

    @property
    def has_node_reports(self) -> bool:
        """Return whether the controller and the nodes report their state."""
        return self.slurm is not None and self.lifecycle.has_agent

    @property
    def lifecycle_script_member(self) -> str:
        """Return the member of LifeCycleConfig with the script that HyperPod starts: with the API, after it configured Slurm."""
        return "OnInitComplete" if self.uses_slurm_api else "OnCreate"

    def of_role(self, role: Role) -> list[InstanceGroup]:
        """Return the groups with this role; a cluster without Slurm has none."""
        return [group for group in self.instance_groups if group.role is role]

    def partition_groups(self) -> dict[str, list[InstanceGroup]]:
        """Return the compute groups in each partition; HyperPod's partition of all nodes only if the file names its groups."""
        compute, found = self.of_role(Role.COMPUTE), dict[str, list[InstanceGroup]]()
        for group in compute:
            if group.partition is not None:
                found.setdefault(group.partition, []).append(group)
        for partition in self.slurm.partitions if self.slurm else ():
            if partition.groups is not None:
                found[partition.name] = [group for group in compute if group.name in partition.groups]
        return found

    def group_of_role(self, role: Role) -> InstanceGroup | None:
        """Return the controller or login group, of which a Slurm cluster has at most one."""
        return next(iter(self.of_role(role)), None)


class SlurmClusterConfig(ClusterConfig):
    """One Slurm cluster, defined by one YAML file."""

    slurm: SlurmConfig = setting("configuration of Slurm, the default orchestrator", Change.NEW_NODES, SlurmConfig())
    instance_groups: tuple[SlurmInstanceGroup, ...] = setting(
        "groups of nodes", Change.IN_PLACE, min_length=1, max_length=100, api="sagemaker:CreateCluster InstanceGroups"
    )


def slurm_of(config: ClusterConfig) -> SlurmConfig:
    """Return the `slurm` section of a Slurm cluster; raise a ValueError for a cluster on EKS."""
    if config.slurm is None:
        raise ValueError(f"cluster {config.name} does not run Slurm")
    return config.slurm


def eks_of(config: ClusterConfig) -> EksConfig:
    """Return the `eks` section of a cluster on EKS; raise a ValueError for a Slurm cluster."""
    if config.eks is None:
        raise ValueError(f"cluster {config.name} does not run on EKS")
    return config.eks


def file_schema(template: str = "#/$defs/{model}") -> dict[str, Any]:
    """Return the JSON schema of a cluster file, in which `slurm` has the default of a Slurm cluster."""
    whole, of_slurm = (model.model_json_schema(ref_template=template) for model in (ClusterConfig, SlurmClusterConfig))
    whole["properties"]["slurm"] = of_slurm["properties"]["slurm"]
    return whole


def model_of(content: Mapping[str, Any]) -> type[ClusterConfig]:
    """Return the model of a file with this content, which depends on its orchestrator."""
    return SlurmClusterConfig if content.get("eks") is None else ClusterConfig
