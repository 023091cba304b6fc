"""Check the add-ons of the EKS cluster."""

from collections.abc import Iterator

from cluster_request.eks_addons import addons_after_nodes, broken, enabled_addons
from config.eks import AddonName
from config.errors import ABSENT, Level, Path, Problem
from config.model import ClusterConfig, Provisioning, Wait, eks_of
from config.suggestions import either
from validation.rules.registry import FILE_SYSTEMS, eks_rule

# Roles reach the pods of these add-ons by Pod Identity, and the operator has webhooks with certificates.
NEEDED_BY = {
    AddonName.TRAINING_OPERATOR: (AddonName.CERT_MANAGER, AddonName.POD_IDENTITY_AGENT),
    AddonName.CLOUDWATCH_OBSERVABILITY: (AddonName.POD_IDENTITY_AGENT,),
}
# Amazon EKS installs none of them itself: the deployment disables its self-managed add-ons.
REQUIRED = {
    AddonName.VPC_CNI: "nodes stay NotReady without it",
    AddonName.KUBE_PROXY: "pods reach no service without it",
    AddonName.COREDNS: "pods resolve no names without it",
}
ADDONS: Path = ("eks", "addons")


@eks_rule("addon-version", "eks.existing", "eks.version", "eks.addons", "eks.teams", "eks.scheduling", *FILE_SYSTEMS)
def addon_version(config: ClusterConfig) -> Iterator[Problem]:
    """Each add-on of an existing EKS cluster requires a version.

    The Kubernetes version of that cluster is unknown, and with it the version of the add-on.
    """
    if eks_of(config).existing is None:
        return
    for name, version in enabled_addons(config).items():
        if version is None:
            fix = f"add one from `aws eks describe-addon-versions --addon-name {name}`"
            message = "required, because the Kubernetes version of `eks.existing` is unknown"
            yield Problem((*ADDONS, name.value, "version"), ABSENT, message, fix)


@eks_rule("broken-addon-version", "eks", *FILE_SYSTEMS, level=Level.WARNING)
def broken_addon_version(config: ClusterConfig) -> Iterator[Problem]:
    """An add-on should have a version that works on HyperPod's nodes.

    EKS offers versions that work only on its own nodes.
    """
    for name, version in enabled_addons(config).items():
        if version and (known := broken(name, version)):
            message = f"{known['problem']} ({known['source']})"
            yield Problem((*ADDONS, name.value, "version"), version, message, f"use {known['fixed']} or newer")


@eks_rule("required-addons", "eks.existing", "eks.addons")
def required_addons(config: ClusterConfig) -> Iterator[Problem]:
    """A new EKS cluster requires the add-ons vpc-cni, kube-proxy and coredns.

    Nodes or pods would not work, and the deployment of the other add-ons fails. HyperPod supports only the Amazon VPC CNI.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    eks = eks_of(config)
    if eks.existing:  # which may have them
        return
    for name, reason in REQUIRED.items():
        if (addon := eks.addons.get(name)) and addon.enabled is False:
            yield Problem((*ADDONS, name.value, "enabled"), value=False, message=reason, fix="remove this line")


@eks_rule("addon-requirements", "eks.existing", "eks.addons", "eks.teams", "eks.scheduling", *FILE_SYSTEMS)
def addon_requirements(config: ClusterConfig) -> Iterator[Problem]:
    """An add-on requires those that it depends on: the training operator cert-manager, and roles of pods the Pod Identity agent.

    Its pods would not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
    if eks_of(config).existing:  # which may have them
        return
    enabled = enabled_addons(config)
    for name, needed in NEEDED_BY.items():
        for other in (each for each in needed if name in enabled and each not in enabled):
            fix = f"remove this line, or disable {name}"
            yield Problem((*ADDONS, other.value, "enabled"), value=False, message=f"{name} requires it", fix=fix)


@eks_rule("task-governance", "eks.addons", "eks.teams", "eks.scheduling", "eks.existing", *FILE_SYSTEMS)
def task_governance(config: ClusterConfig) -> Iterator[Problem]:
    """`scheduling` and quotas require the add-on amazon-sagemaker-hyperpod-taskgovernance.

    Kueue, which the add-on installs, enforces them.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance.html
    eks, name = eks_of(config), AddonName.TASK_GOVERNANCE
    users = [*(["scheduling"] if eks.scheduling else []), *(f"the quota of {team.name}" for team in eks.teams if team.quota)]
    if not users or name in enabled_addons(config) or (eks.existing and name not in eks.addons):
        return
    message = f"{either(users)} requires the add-on"
    yield Problem((*ADDONS, name.value, "enabled"), value=False, message=message, fix="remove this line")


@eks_rule("unused-addon-settings", "eks.addons", level=Level.WARNING)
def unused_addon_settings(config: ClusterConfig) -> Iterator[Problem]:
    """A disabled add-on should not have a `version` or a `configuration`.

    They have no effect.
    """
    for name, addon in eks_of(config).addons.items():
        for field in ("version", "configuration"):
            if addon.enabled is False and getattr(addon, field):
                yield Problem((*ADDONS, name.value, field), ABSENT, "has no effect on a disabled add-on", "remove it")


@eks_rule("wait-for-addons", "wait", "provisioning", "instance_groups", "eks", *FILE_SYSTEMS, level=Level.WARNING)
def wait_for_addons(config: ClusterConfig) -> Iterator[Problem]:
    """`wait` of a cluster on EKS should be `nodes` if it has add-ons whose pods need nodes.

    CloudFormation installs them after the cluster. Without a ready node they stay DEGRADED, and a first deployment fails.
    """
    is_early = config.wait is Wait.NONE or (config.wait is Wait.CLUSTER and config.provisioning is Provisioning.CONTINUOUS)
    if is_early and (waiting := [addon.name for addon in addons_after_nodes(config)]):
        message = f"{waiting[0]} and other add-ons need nodes" if waiting[1:] else f"{waiting[0]} needs nodes"
        yield Problem(("wait",), config.wait.value, message, "remove this line until nodes run")
