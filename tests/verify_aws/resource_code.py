"""The custom resource's own functions, which also put ``lambda_assets`` on the path."""

from cli.resource_code import Event
from cluster_resource.desired import Desired
from cluster_resource.diagnostics import SECRETS
from cluster_resource.event import HASH_LENGTH

__all__ = ["HASH_LENGTH", "SECRETS", "Desired", "Event"]
