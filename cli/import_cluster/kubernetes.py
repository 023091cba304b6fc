"""The eks section of an imported cluster that EKS orchestrates, and the labels and taints of its groups."""

from collections.abc import Mapping
from typing import Any

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.original import Original
from cluster_request.eks_addons import versions
from cluster_request.request import CONTINUOUS, Request

NOT_ADOPTED = "HyperPod allows one HyperPod cluster on an EKS cluster: delete the original first."
KARPENTER = {"Mode": "Enable", "AutoScalerType": "Karpenter"}


def eks_arn_of(request: Request) -> str | None:
    """Return the ARN of the EKS cluster that orchestrates; None with Slurm."""
    arn = ((request.get("Orchestrator") or {}).get("Eks") or {}).get("ClusterArn")
    return str(arn) if arn else None


def eks_part(original: Original, choices: Choices) -> Part:
    """Return the section: the original's EKS cluster if the network is kept, else a new one."""
    request = original.request
    arn = str(eks_arn_of(request))
    is_continuous = request.get("NodeProvisioningMode") == CONTINUOUS
    scaling = {"autoscaling": "karpenter"} if request.get("AutoScaling") == KARPENTER and is_continuous else {}
    if choices.keep is not Keep.NOTHING:
        section = {"existing": {"name": arn.rpartition("/")[2]}, **scaling}
        note = "The original's EKS cluster."
        return Part({"eks": section}, (note,) if choices.adopt else (note, NOT_ADOPTED))
    newest = max(versions(), key=lambda name: int(name.partition(".")[2]))
    comments = (
        f"A new EKS cluster, instead of {arn}.",
        "Not taken over: the software in it. Add your roles to `admins`, and check the version.",
    )
    return Part({"eks": {"version": newest, **scaling}}, comments)


def kubernetes_fields(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels and taints of a group."""
    config = specification.get("KubernetesConfig") or {}
    taints = [{key.lower(): value for key, value in taint.items()} for taint in config.get("Taints") or ()]
    return {"labels": config.get("Labels") or None, "taints": taints or None}
