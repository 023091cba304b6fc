"""The custom resource's own functions, so that a preview shows what Lambda would decide."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "lambda_assets"))

# Found by way of the line above.
from cluster_resource.aws_api import ApiError
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.convergence import replacement_on_eks
from cluster_resource.deadline import Clock
from cluster_resource.decision import Action, Call, Fail, Memory, Wait
from cluster_resource.desired import Desired
from cluster_resource.event import Event, Owner, is_reserved
from cluster_resource.observed import Cluster, Group, cluster_of, event_failure
from cluster_resource.plan import IMAGE_FIELDS, plan
from cluster_resource.reconcile import decide
from cluster_resource.refusals import immutable_changes, refusal
from cluster_resource.removed_members import OFF, PERMANENT
from cluster_resource.reports import own_records
from network_resource.foreign_resources import Foreign, foreign_resources

__all__ = [
    "IMAGE_FIELDS",
    "OFF",
    "PERMANENT",
    "Action",
    "ApiError",
    "Call",
    "Clock",
    "Cluster",
    "ClusterApi",
    "Desired",
    "Event",
    "Fail",
    "Foreign",
    "Group",
    "Memory",
    "Owner",
    "Wait",
    "cluster_of",
    "decide",
    "event_failure",
    "foreign_resources",
    "immutable_changes",
    "is_reserved",
    "own_records",
    "plan",
    "refusal",
    "replacement_on_eks",
]
