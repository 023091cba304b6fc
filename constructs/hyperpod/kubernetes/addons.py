"""Define EKS add-ons."""

from collections.abc import Iterable
from dataclasses import dataclass

from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from cluster_request.eks_addons import Addon
from config.eks import AddonName
from constructs.hyperpod.nag import acknowledge
from constructs.hyperpod.removal_policy import retain

PODS = "pods.eks.amazonaws.com"


@dataclass(frozen=True)
class PodIdentity:
    """The service account of an add-on's pods, and AWS's policy for them."""

    namespace: str
    service_account: str
    policy: str


IDENTITIES = {
    AddonName.TRAINING_OPERATOR: PodIdentity(
        "aws-hyperpod", "hp-training-operator-controller-manager", "AmazonSageMakerHyperPodTrainingOperatorAccess"
    ),
    AddonName.CLOUDWATCH_OBSERVABILITY: PodIdentity("amazon-cloudwatch", "cloudwatch-agent", "CloudWatchAgentServerPolicy"),
}
REQUIRED = {AddonName.TRAINING_OPERATOR: AddonName.CERT_MANAGER}
"""The add-on that must be there before another one."""


class Addons(Construct):
    """Define add-ons, with fixed versions where the table has them, and the identities of their pods.

    EKS's default version of an add-on changes, and would differ between two clusters of one file. With ``preserve``, deleting
    an add-on leaves its software running in the EKS cluster; ``keep_identities`` also keeps the roles of its pods.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        addons: Iterable[Addon],
        preserve: bool = False,
        keep_identities: bool = False,
    ) -> None:
        super().__init__(scope, id)
        self._cluster_name, self._preserve, self._keep_identities = cluster_name, preserve, keep_identities
        self._addons = {addon.name: self._addon(addon) for addon in addons}
        for name, required in REQUIRED.items():
            if name in self._addons and required in self._addons:
                self._addons[name].add_resource_dependency(self._addons[required])

    def _addon(self, addon: Addon) -> eks.CfnAddon:
        resource = eks.CfnAddon(
            self,
            addon.name.value,
            cluster_name=self._cluster_name,
            addon_name=addon.name.value,
            addon_version=addon.version,
            configuration_values=addon.configuration_values,
            resolve_conflicts="OVERWRITE",
            preserve_on_delete=self._preserve or None,
        )
        if identity := IDENTITIES.get(addon.name):
            # Pods get their identity when they start. In the add-on's own properties, EKS refuses it for add-ons that do not
            # declare that they need one, such as v1.2.1-eksbuild.1 of the training operator.
            resource.add_resource_dependency(self._associate(addon.name, identity))
        return resource

    def _associate(self, name: AddonName, identity: PodIdentity) -> eks.CfnPodIdentityAssociation:
        scope = Construct(self, f"{name.value}-identity")
        # The session tags that EKS adds: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
        given = {
            "eks-cluster-name": self._cluster_name,
            "kubernetes-namespace": identity.namespace,
            "kubernetes-service-account": identity.service_account,
        }
        tags = {f"aws:RequestTag/{key}": value for key, value in given.items()}
        role = iam.Role(
            scope,
            "Role",
            description=f"Role of the pods of EKS add-on {name.value}",
            assumed_by=iam.SessionTagsPrincipal(iam.ServicePrincipal(PODS, conditions={"StringEquals": tags})),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(identity.policy)],
        )
        finding = f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{identity.policy}]"
        acknowledge(role, finding, "AWS writes this policy for the add-on and changes it with new versions")
        association = eks.CfnPodIdentityAssociation(
            scope,
            "Resource",
            cluster_name=self._cluster_name,
            namespace=identity.namespace,
            service_account=identity.service_account,
            role_arn=role.role_arn,
        )
        if self._keep_identities:
            retain(scope)
        return association
