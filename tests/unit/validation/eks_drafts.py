"""Parts of drafts for EKS."""

from typing import Any

WORK = 1
"""The index of the draft's group with accelerators."""

NETWORK = {
    "vpc_id": "vpc-0123456789abcdef0",
    "node_subnet_ids": ["subnet-0123456789abcdef0"],
    "security_group_id": "sg-0123456789abcdef0",
}
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p5"


def existing(draft: Any) -> Any:
    """Return the draft with an existing EKS cluster and network."""
    return draft.remove("eks", "version").set("eks", "existing", {"name": "theirs"}).set("network", "existing", NETWORK)


def quota(draft: Any, **values: object) -> Any:
    """Return the draft with a changed quota of the first team."""
    own = draft.content["eks"]["teams"][0]["quota"]
    return draft.set("eks", "teams", 0, "quota", {**own, **values})


def resources(draft: Any, *entries: dict[str, object]) -> Any:
    """Return the draft with these resources of the first team, of the working group's type."""
    return quota(draft, resources=[{"instance_type": "ml.p5.48xlarge", **each} for each in entries])
