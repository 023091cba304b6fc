"""How AWS behaves where its sources disagree or are silent; `/_local_aws/behaviour` changes it.

`cordon_after_reboot`: whether HyperPod's reboot of a node on EKS has `cleared` its `spec.unschedulable`, as the audit log of
2026-09-09 in yuhuiaws/GPU-Fault-Recovery-System shows, or `kept` it.

`degraded_addons`: whether AWS::EKS::Addon is `complete` in DEGRADED, as terraform-provider-aws issue 44669 saw (2025-10),
or waits for ACTIVE, to `fail` after 20 minutes.

`describe_cluster`: whether DescribeCluster is `stale` for ten seconds: it does not find a new cluster, and shows a changed one as
before. Terraform's acceptance tests of aws_sagemaker_cluster (Altos Labs, 2025) tolerate both.

`echo`: how DescribeCluster shows a request. AWS documents neither the defaults that it adds nor the order of lists. The default,
`differing`, is the worse case.

`provisioning`: with `continuous`, new Slurm clusters are continuous although the request does not say so. A live test in
alchemy-run/alchemy 2a32ec3 saw this; AWS's developer guide says otherwise. The default is `as_requested`, because the other
rejects every cluster of `slurm.setup: scripts`.

`left_out`: what UpdateCluster does with a member of a group that it leaves out, which AWS does not document. With `keep`, the
group keeps it, also inside structures; with `drop`, it is gone. The default, `keep`, is the worse case.

`leftover_quotas`: DeleteCluster of a cluster with compute quotas or a scheduler config. AWS's own templates delete these first;
whether they otherwise block the deletion or stay without a cluster is not documented. The default, `block`, is the worse case.

`guardduty`: with `automatic`, GuardDuty adds its endpoint to a VPC when nodes start there. It is a setting of the organization.

`software_attempts`: how often UpdateClusterSoftware starts a node whose scripts fail. With `several`, four times in about 18
minutes, and then again with the former image; awsome-distributed-ai, devops-agent/docs/hyperpod-mental-model.md (2026-07), saw
this once. With `one`, the update fails at once.

`replaced_address`: whether a replaced node of a Slurm cluster has `kept` its address and so its host name, as AWS's skill
hyperpod-slurm-debugger 1.0.0 in awslabs/agent-plugins says, or has a `new` one, as all nodes on EKS.
"""

from typing import Any

from local_aws import control
from local_aws.json_service import Json

CHOICES = {
    "cordon_after_reboot": ("cleared", "kept"),
    "degraded_addons": ("complete", "fail"),
    "describe_cluster": ("stale", "current"),
    "echo": ("differing", "exact"),
    "guardduty": ("off", "automatic"),
    "left_out": ("keep", "drop"),
    "leftover_quotas": ("block", "orphan"),
    "provisioning": ("as_requested", "continuous"),
    "replaced_address": ("kept", "new"),
    "software_attempts": ("several", "one"),
}
_DEFAULTS = {name: values[0] for name, values in CHOICES.items()}
_chosen = dict(_DEFAULTS)

_CLUSTER = {"NodeRecovery": "Automatic"}
_GROUP = {"MinInstanceCount": 0}
_STRUCTURES = (
    "AutoPatchConfig",
    "DeploymentConfig",
    "DrainPolicy",
    "KubernetesConfig",
    "LifeCycleConfig",
    "ScheduledUpdateConfig",
)
_VOLUME = {"RootVolume": False}


def choose(choices: dict[str, str]) -> dict[str, str]:
    """Change the behaviour, such as ``{"echo": "exact"}``, and return all of it."""
    for name, value in choices.items():
        if value not in CHOICES.get(name, ()):
            raise ValueError(f"{name}={value}: unknown; available: {', '.join(f'{each}={CHOICES[each]}' for each in CHOICES)}")
    _chosen.update(choices)
    return dict(_chosen)


def reset() -> None:
    """Restore the defaults."""
    _chosen.update(_DEFAULTS)


def install() -> None:
    """Register the control path."""
    control.route("behaviour", _handle)


def with_default_provisioning(settings: Json) -> Json:
    """Return a new cluster's settings with the provisioning that the service chooses."""
    if _chosen["provisioning"] == "as_requested" or "Eks" in (settings.get("Orchestrator") or {}):
        return settings
    return {"NodeProvisioningMode": "Continuous", **settings}


def with_left_out(before: Json, spec: Json) -> Json:
    """Return a group's specification after an update: with ``keep`` also the members that the update leaves out."""
    if _chosen["left_out"] == "drop":
        return dict(spec)
    other = {"InstanceType": "InstanceRequirements", "InstanceRequirements": "InstanceType"}
    kept = {name: value for name, value in before.items() if other.get(name) not in spec}
    below = {name: with_left_out(before[name], spec[name]) for name in _STRUCTURES if name in before and name in spec}
    return {**kept, **spec, **below}


def describe_is_stale() -> bool:
    """Return whether DescribeCluster shows a change only after a while."""
    return _chosen["describe_cluster"] == "stale"


def quotas_block_deletion() -> bool:
    """Return whether a cluster with quotas cannot be deleted."""
    return _chosen["leftover_quotas"] == "block"


def has_guardduty() -> bool:
    """Return whether GuardDuty's automatic mode is on."""
    return _chosen["guardduty"] == "automatic"


def degraded_is_complete() -> bool:
    """Return whether CloudFormation calls an add-on in DEGRADED complete."""
    return _chosen["degraded_addons"] == "complete"


def software_attempts() -> int:
    """Return how often a software update starts a node before it restores the former image; 0: it does not restore it."""
    return 4 if _chosen["software_attempts"] == "several" else 0


def reboot_clears_cordon() -> bool:
    """Return whether a node on EKS that HyperPod rebooted takes pods although it was cordoned."""
    return _chosen["cordon_after_reboot"] == "cleared"


def replaced_keep_address() -> bool:
    """Return whether replaced nodes of Slurm clusters keep their addresses."""
    return _chosen["replaced_address"] == "kept"


def shown_settings(settings: Json) -> Json:
    """Return a cluster's settings as DescribeCluster shows them."""
    return settings if _chosen["echo"] == "exact" else _without_empty({**_CLUSTER, **settings})


def shown_group(spec: Json) -> Json:
    """Return a group's specification as DescribeCluster shows it, under the names of the request."""
    if _chosen["echo"] == "exact":
        return spec
    storage = [_with_volume_default(item) for item in reversed(spec.get("InstanceStorageConfigs") or [])]
    return _without_empty({**_GROUP, **spec, "InstanceStorageConfigs": storage})


def _with_volume_default(item: Json) -> Json:
    return {**item, "EbsVolumeConfig": {**_VOLUME, **item["EbsVolumeConfig"]}} if "EbsVolumeConfig" in item else item


def _without_empty(value: Json) -> Json:
    """Return the object without empty lists, objects and texts, at any depth."""
    kept = {name: _kept(item) for name, item in value.items()}
    return {name: item for name, item in kept.items() if item not in ([], {}, "", None)}


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        return _without_empty(value)
    return [_kept(item) for item in value] if isinstance(value, list) else value


def _handle(request: control.Request) -> dict[str, str]:
    if request.method == "DELETE":
        reset()
    return choose(request.json() or {})
