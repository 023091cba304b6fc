"""Define the eks section."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

from pydantic import StrictBool, StrictInt, StringConstraints

from config.entries import numbered
from config.errors import Path
from config.local_folder import LocalFolder
from config.network import AvailabilityZoneId, Cidr, SubnetId
from config.section import Change, KeyArn, Removal, Section, setting
from config.teams import SchedulingConfig, Team

EKS_NAME = "^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$"
PRINCIPAL_ARN = "^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]{1,512}$"
KUBERNETES_VERSION = r"^1\.[0-9]{2}$"
ADDON_VERSION = r"^v[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)*$"

EksName = Annotated[str, StringConstraints(pattern=EKS_NAME)]
PrincipalArn = Annotated[str, StringConstraints(pattern=PRINCIPAL_ARN)]


class EndpointAccess(StrEnum):
    """The networks from which the API server is reachable."""

    PUBLIC_AND_PRIVATE = "public_and_private"
    PRIVATE = "private"


class ControlPlaneLog(StrEnum):
    """The logs of the control plane."""

    API = "api"
    AUDIT = "audit"
    AUTHENTICATOR = "authenticator"
    CONTROLLER_MANAGER = "controllerManager"
    SCHEDULER = "scheduler"


class Autoscaling(StrEnum):
    """The autoscaler of HyperPod."""

    KARPENTER = "karpenter"


class AddonName(StrEnum):
    """The EKS add-ons that a file can configure."""

    VPC_CNI = "vpc-cni"
    KUBE_PROXY = "kube-proxy"
    POD_IDENTITY_AGENT = "eks-pod-identity-agent"
    COREDNS = "coredns"
    METRICS_SERVER = "metrics-server"
    CERT_MANAGER = "cert-manager"
    FSX_CSI_DRIVER = "aws-fsx-csi-driver"
    CLOUDWATCH_OBSERVABILITY = "amazon-cloudwatch-observability"
    TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
    TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"


class AddonConfig(Section):
    """An EKS add-on, if it differs from the default."""

    enabled: StrictBool | None = setting("whether the cluster has the add-on; default: see `addons`", Change.IN_PLACE, None)
    version: str | None = setting(
        "version of the add-on, e.g. `v1.20.4-eksbuild.2`; default: the version in config/data/eks_addons.json for the "
        "Kubernetes version, or EKS's default if the file has none",
        Change.IN_PLACE,
        None,
        pattern=ADDON_VERSION,
        api="eks:CreateAddon addonVersion",
    )
    configuration: dict[str, Any] = setting(
        "the add-on's own settings, merged over the deployment's at every depth: lists are replaced, `null` removes a setting",
        Change.IN_PLACE,
        {},
    )


class ExistingEks(Section):
    """An existing EKS cluster."""

    name: EksName = setting(
        "name of the EKS cluster in the cluster's account, region and VPC, with authentication mode API or API_AND_CONFIG_MAP",
        Change.REPLACES_CLUSTER,
        api="sagemaker:CreateCluster Orchestrator.Eks.ClusterArn",
    )


class HelmChart(Section):
    """HyperPod's Helm chart, rendered by your `helm` at synth (docs/operate/eks.md)."""

    folder: LocalFolder = setting(
        "folder of the chart, relative to the cluster file, e.g. `../sagemaker-hyperpod-cli/helm_chart/HyperPodHelmChart`",
        Change.IN_PLACE,
    )
    values: dict[str, Any] = setting(
        "values that take precedence over those in the chart, e.g. `{health-monitoring-agent: {region: us-west-2}}`",
        Change.IN_PLACE,
        {},
    )


class EksConfig(Section):
    """The configuration of Amazon EKS, the orchestrator instead of Slurm."""

    version: str | None = setting(
        'Kubernetes version, e.g. `"1.35"`, in quotes; EKS upgrades one minor version at a time and has no downgrade; required '
        "without `existing`",
        Change.IN_PLACE,
        None,
        pattern=KUBERNETES_VERSION,
        api="eks:CreateCluster version",
    )
    existing: ExistingEks | None = setting("existing EKS cluster to use instead of a new one", Change.REPLACES_CLUSTER, None)
    control_plane_cidrs: tuple[Cidr, ...] = setting(
        "ranges of the two new subnets for the control plane's network interfaces, inside `network.vpc_cidr`; with "
        "`network.existing` only if set; not used with `control_plane_subnet_ids`; a change creates new subnets, whose ranges "
        "must not overlap the old ones",
        Change.IN_PLACE,
        ("10.0.1.0/28", "10.0.1.16/28"),
        min_length=2,
        max_length=2,
        validate_default=True,
        api="ec2:CreateSubnet CidrBlock",
    )
    control_plane_zone_ids: tuple[AvailabilityZoneId, ...] | None = setting(
        "availability zone ids of these two subnets, which EKS cannot change; default: two zones of the region that EKS supports",
        Change.AT_CREATION,
        None,
        min_length=2,
        max_length=2,
        api="ec2:CreateSubnet AvailabilityZoneId",
    )
    control_plane_subnet_ids: tuple[SubnetId, ...] = setting(
        "existing subnets for the control plane, in at least two zones of the VPC in `network.existing`; default: new subnets; "
        "a change must keep the zones",
        Change.IN_PLACE,
        (),
        max_length=16,
        api="eks:CreateCluster resourcesVpcConfig.subnetIds",
    )
    endpoint_access: EndpointAccess = setting(
        "networks that reach the API server: the internet and the VPC (`public_and_private`), or only the VPC (`private`); with "
        "`existing`, set it as that cluster has it",
        Change.IN_PLACE,
        EndpointAccess.PUBLIC_AND_PRIVATE,
        api="eks:CreateCluster resourcesVpcConfig.endpointPublicAccess",
    )
    public_access_cidrs: tuple[Cidr, ...] = setting(
        "ranges in the internet that reach the API server; default: all",
        Change.IN_PLACE,
        (),
        max_length=40,
        api="eks:CreateCluster resourcesVpcConfig.publicAccessCidrs",
    )
    logs: tuple[ControlPlaneLog, ...] = setting(
        "logs of the control plane in CloudWatch Logs; `[]`: none",
        Change.IN_PLACE,
        (ControlPlaneLog.API, ControlPlaneLog.AUDIT, ControlPlaneLog.AUTHENTICATOR),
        max_length=5,
        api="eks:CreateCluster logging.clusterLogging[].types",
    )
    log_retention_days: StrictInt = setting(
        "retention of these logs in days; must be a value that CloudWatch Logs supports",
        Change.IN_PLACE,
        90,
        ge=1,
        le=3653,
        api="logs:PutRetentionPolicy retentionInDays",
    )
    secrets_key_arn: KeyArn | None = setting(
        "customer managed KMS key that encrypts Kubernetes secrets; default: a key of AWS (see docs/operate/eks.md to add one "
        "later)",
        Change.AT_CREATION,
        None,
        api="eks:CreateCluster encryptionConfig[].provider.keyArn",
    )
    admins: tuple[PrincipalArn, ...] = setting(
        "ARNs of IAM roles and users that administer the EKS cluster, by access entries", Change.IN_PLACE, (), max_length=100
    )
    addons: dict[AddonName, AddonConfig] = setting(
        "EKS add-ons that differ from the default; all are enabled by default, except `aws-fsx-csi-driver` without a Lustre file "
        "system and `amazon-sagemaker-hyperpod-taskgovernance` without `scheduling` and quotas; with `existing`, none",
        Change.IN_PLACE,
        {},
    )
    helm_chart: HelmChart | None = setting(
        "AWS's Helm chart of HyperPod's dependencies, instead of the deployment's own objects", Change.IN_PLACE, None
    )
    nvidia_device_plugin: StrictBool = setting(
        "whether the deployment installs NVIDIA's device plugin; `false` if the NVIDIA GPU operator runs its own "
        "(docs/operate/eks.md)",
        Change.IN_PLACE,
        True,
    )
    # The objects of more teams do not fit into the custom resource's event: tests/unit/cluster_request/kubernetes_objects.
    teams: tuple[Team, ...] = setting("teams with a namespace each", Change.IN_PLACE, (), max_length=40)
    scheduling: SchedulingConfig | None = setting(
        "priorities and sharing of the teams' compute (HyperPod task governance)", Change.IN_PLACE, None
    )
    autoscaling: Autoscaling | None = setting(
        "`karpenter`: HyperPod scales groups by pending pods; requires `provisioning: continuous`",
        Change.IN_PLACE,
        None,
        api="sagemaker:CreateCluster AutoScaling.AutoScalerType",
    )
    removal: Removal = setting(
        "effect of `cdk destroy` on a created EKS cluster; `retain` keeps it with its network, but without access entries",
        Change.NOTHING,
        Removal.DESTROY,
    )

    @property
    def is_reachable_from_anywhere(self) -> bool:
        """Return whether the API server is reachable from the whole internet."""
        return self.endpoint_access is EndpointAccess.PUBLIC_AND_PRIVATE and not self.public_access_cidrs

    def principals(self) -> Iterator[tuple[Path, str]]:
        """Yield the IAM principals that get an access entry, with their paths."""
        yield from ((("eks", "admins", index), arn) for index, arn in enumerate(self.admins))
        for index, team in numbered(self.teams):
            yield from ((("eks", "teams", index, "role_arns", place), arn) for place, arn in enumerate(team.role_arns))
