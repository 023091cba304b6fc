"""The operations of the resource of compute quotas: in its service model and in its code."""

import json

from cluster_request.service_model import QUOTA_OPERATIONS, slim_model
from quota_resource.quota_api import OPERATIONS


def test_the_service_model_of_quotas_has_the_operations_that_the_code_calls() -> None:
    assert set(OPERATIONS) == set(QUOTA_OPERATIONS) == set(json.loads(slim_model(QUOTA_OPERATIONS))["operations"])
