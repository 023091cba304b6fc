"""The tags of a cluster's owner: put on and read in Lambda, named in the function's policies and looked for by `hpod`."""

from cluster_resource import event
from config import tags


def test_both_sides_name_the_same_tags() -> None:
    assert event.TAG_PREFIX == tags.PREFIX
    assert event.STACK_ID_TAG == tags.STACK_ID_TAG
    assert event.LOGICAL_ID_TAG == tags.LOGICAL_ID_TAG
    assert event.VERSION_TAG == tags.VERSION_TAG
    assert event.CLUSTER_TAG == tags.CLUSTER_TAG
