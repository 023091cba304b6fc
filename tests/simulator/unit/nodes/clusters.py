"""A cluster as HyperPod's agent sees it, made by hand."""

import json

from local_aws.nodes.agent.slurm_conf import SlurmLayout
from local_aws.nodes.agent.view import ClusterView, Member, Shape

LAYOUT = SlurmLayout("controller", {"workers": "gpu", "others": "dev"}, "login")
SHAPES = {"controller": Shape(4, 7782), "login": Shape(4, 7782), "workers": Shape(96, 1000, 8), "others": Shape(2, 500)}


def view(**addresses: list[str]) -> ClusterView:
    """A cluster whose groups have nodes at these addresses."""
    members = tuple(
        Member(group, f"{group}-{number}", f"i-{group}{number}", address)
        for group, ones in addresses.items()
        for number, address in enumerate(ones, 1)
    )
    return ClusterView("ml", json.dumps([member.address for member in members]), members, SHAPES)
