"""What holds for all checks: they ask only what the file requires, and report what the caller may not ask."""

from typing import Any

import pytest

from cli.preflight.associations import associations
from cli.preflight.capacity import offerings, training_plans
from cli.preflight.changes import stacks
from cli.preflight.cluster import cluster_name, cluster_replacement
from cli.preflight.file_systems import file_systems
from cli.preflight.network import foreign_resources, internet, vpc
from cli.preflight.prerequisites import bootstrap, service_roles, zone
from cli.preflight.quotas import eks_quotas, instance_quotas, storage_quotas
from cli.preflight.references import references
from cli.preflight.security_groups import security_groups
from cli.preflight.subnets import subnets
from tests.unit.cli.preflight import fake_aws
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, IMPORTED, NO_STACKS, FakeAws, asked, outcomes
from tests.unit.cli.preflight.test_capacity import PLANNED
from tests.unit.cli.preflight.test_eks import EXISTING, NEW
from tests.unit.cli.preflight.test_foreign_resources import DESTROYED
from tests.unit.cli.preflight.test_names import NAMED
from tests.unit.cli.preflight.test_stacks import LINKED


@pytest.mark.parametrize(
    ("check", "file"),
    [
        *((check, FILE) for check in (vpc, internet, subnets, security_groups, training_plans, cluster_name, file_systems)),
        *((check, FILE) for check in (references, stacks, associations, foreign_resources, cluster_replacement)),
        *((check, IMPORTED) for check in (associations, storage_quotas, foreign_resources)),
        (cluster_replacement, NEW),
        (eks_quotas, EXISTING),
    ],
)
def test_what_a_file_does_not_require_is_not_asked(check: Any, file: str) -> None:
    assert outcomes(asked(check, {}, file)) == ["skipped"]


class ClosedAws(FakeAws):
    """An account that answers who the caller is and which stacks exist, and denies everything else."""

    def answer(self, name: str, arguments: dict[str, Any]) -> Any:
        if name not in self.answers:
            raise DENIED
        return super().answer(name, arguments)


VPC_OF_THE_DEPLOYMENT = fake_aws.stacks(Network={"VpcId": "vpc-1"})


@pytest.mark.parametrize(
    ("check", "file", "deployed"),
    [
        *((check, IMPORTED, NO_STACKS) for check in (vpc, internet, subnets, security_groups, file_systems)),
        *((check, FILE, NO_STACKS) for check in (zone, bootstrap, offerings, service_roles, instance_quotas)),
        (training_plans, PLANNED, NO_STACKS),
        (cluster_name, NAMED, NO_STACKS),
        (associations, LINKED, NO_STACKS),
        (stacks, FILE, DENIED),
        (foreign_resources, DESTROYED, VPC_OF_THE_DEPLOYMENT),
    ],
)
def test_a_missing_permission_is_a_warning(check: Any, file: str, deployed: Any) -> None:
    aws = ClosedAws({"cloudformation.describe_stacks": deployed})
    assert outcomes(asked(check, aws, file)) == ["warning"]
