"""The custom resource's own functions, so that a preview shows what Lambda would decide."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "lambda_assets"))

# Found by way of the line above.
from cluster_resource.actions import Action, Call, Fail, Wait
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.desired import Desired
from cluster_resource.errors import ApiError
from cluster_resource.event import Event
from cluster_resource.memory import Memory
from cluster_resource.moment import Moment
from cluster_resource.observed import Cluster, Group, cluster_of
from cluster_resource.ownership import Owner
from cluster_resource.plan import plan
from cluster_resource.reconcile import decide

__all__ = [
    "Action",
    "ApiError",
    "Call",
    "Cluster",
    "ClusterApi",
    "Desired",
    "Event",
    "Fail",
    "Group",
    "Memory",
    "Moment",
    "Owner",
    "Wait",
    "cluster_of",
    "decide",
    "plan",
]
