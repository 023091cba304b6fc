"""The tags of a cluster's owner: put on and read in Lambda, named in the function's policies and looked for by `ops`."""

from cluster_resource import event
from config import own_tags


def test_both_sides_name_the_same_tags() -> None:
    assert event.TAG_PREFIX == own_tags.PREFIX
    assert event.STACK_ID_TAG == own_tags.STACK_ID_TAG
    assert event.LOGICAL_ID_TAG == own_tags.LOGICAL_ID_TAG
    assert event.VERSION_TAG == own_tags.VERSION_TAG
    assert event.CLUSTER_TAG == own_tags.CLUSTER_TAG
