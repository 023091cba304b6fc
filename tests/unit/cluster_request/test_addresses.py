"""Addresses of a node, held against the two figures that AWS publishes: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html."""

from typing import Any

import pytest

from cluster_request.addresses import addresses_of_node
from cluster_request.effective_request import EffectiveRequest
from config.model import Orchestrator

SLURM, EKS = Orchestrator.SLURM, Orchestrator.EKS


def test_a_p5_needs_as_many_addresses_as_aws_documents() -> None:
    assert addresses_of_node("ml.p5.48xlarge", SLURM) == 32
    assert addresses_of_node("ml.p5.48xlarge", EKS) == 81


@pytest.mark.parametrize(
    ("name", "slurm", "eks"),
    [("ml.c5.xlarge", 1, 15), ("ml.g5.48xlarge", 1, 50), ("ml.trn1.32xlarge", 8, 57), ("ml.p6-b300.48xlarge", 17, 66)],
)
def test_other_types_take_an_address_on_each_card_and_with_eks_the_pods_of_the_first(name: str, slurm: int, eks: int) -> None:
    assert (addresses_of_node(name, SLURM), addresses_of_node(name, EKS)) == (slurm, eks)


def test_efa_only_interfaces_have_no_address() -> None:
    assert addresses_of_node("ml.p5.48xlarge", SLURM, efa_only=True) == 1
    assert addresses_of_node("ml.p5.48xlarge", EKS, efa_only=True) == 50


@pytest.mark.parametrize("name", ["ml.p6e-gb200.36xlarge", "ml.p9.48xlarge"])
def test_the_demand_of_an_unknown_type_is_not_guessed(name: str) -> None:
    assert addresses_of_node(name, SLURM) is None


def test_a_cluster_runs_slurm_unless_it_asks_for_eks(draft: Any) -> None:
    assert EffectiveRequest(draft.config()).orchestrator is SLURM
    draft.set("overrides", {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/mine"}}})
    assert EffectiveRequest(draft.config()).orchestrator is EKS
