"""The tags of a cluster's owner: put on and read in Lambda, named in the function's policies and looked for by `hpod`."""

from cluster_resource import ownership
from config import tags


def test_both_sides_name_the_same_tags() -> None:
    assert ownership.PREFIX == tags.PREFIX
    assert ownership.STACK_ID == tags.STACK_ID_TAG
    assert ownership.LOGICAL_ID == tags.LOGICAL_ID_TAG
    assert ownership.VERSION == tags.VERSION_TAG
    assert ownership.CLUSTER_TAG == tags.CLUSTER_TAG
