"""The tags of a cluster's owner: put on and read in Lambda, named in the function's policies and looked for by `hpod`."""

from cluster_resource import ownership
from config import own_tags


def test_both_sides_name_the_same_tags() -> None:
    assert ownership.PREFIX == own_tags.PREFIX
    assert ownership.STACK_ID == own_tags.STACK_ID_TAG
    assert ownership.LOGICAL_ID == own_tags.LOGICAL_ID_TAG
    assert ownership.VERSION == own_tags.VERSION_TAG
    assert ownership.CLUSTER_TAG == own_tags.CLUSTER_TAG
