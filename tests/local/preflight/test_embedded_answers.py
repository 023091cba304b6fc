"""What the embedded AWS answers beyond moto: simulated decisions, and quotas as CreateCluster holds callers to them."""

import json

import pytest
from botocore.exceptions import ClientError

from local_aws import control
from local_aws.testing import Client
from tests.local.preflight.world import World, document

pytestmark = pytest.mark.local


def test_the_simulator_decides_as_a_session_of_the_role_would_find(client: Client) -> None:
    role = World(client).make_role(
        "dev",
        {"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::ours"},
        {"Effect": "Deny", "Action": "s3:DeleteBucket", "Resource": "*"},
    )
    iam = client("iam")

    def decisions(*resources: str) -> dict[tuple[str, str], str]:
        wanted = ["s3:CreateBucket", "s3:DeleteBucket"]
        named = {"ResourceArns": list(resources)} if resources else {}
        results = iam.simulate_principal_policy(PolicySourceArn=role, ActionNames=wanted, **named)["EvaluationResults"]
        if not resources:
            return {(each["EvalActionName"], each["EvalResourceName"]): each["EvalDecision"] for each in results}
        return {
            (each["EvalActionName"], told["EvalResourceName"]): told["EvalResourceDecision"]
            for each in results
            for told in each["ResourceSpecificResults"]
        }

    assert decisions("arn:aws:s3:::ours", "arn:aws:s3:::theirs") == {
        ("s3:CreateBucket", "arn:aws:s3:::ours"): "allowed",
        ("s3:CreateBucket", "arn:aws:s3:::theirs"): "implicitDeny",
        ("s3:DeleteBucket", "arn:aws:s3:::ours"): "explicitDeny",
        ("s3:DeleteBucket", "arn:aws:s3:::theirs"): "explicitDeny",
    }
    assert decisions() == {("s3:CreateBucket", "*"): "implicitDeny", ("s3:DeleteBucket", "*"): "explicitDeny"}
    boundary = iam.create_policy(
        PolicyName="nothing", PolicyDocument=document({"Effect": "Allow", "Action": "ec2:*", "Resource": "*"})
    )["Policy"]["Arn"]
    iam.put_role_permissions_boundary(RoleName="dev", PermissionsBoundary=boundary)
    assert decisions("arn:aws:s3:::ours")["s3:CreateBucket", "arn:aws:s3:::ours"] == "implicitDeny"
    with pytest.raises(ClientError, match="NoSuchEntity"):
        iam.simulate_principal_policy(PolicySourceArn=role.replace("dev", "nobody"), ActionNames=["s3:CreateBucket"])


def test_a_limit_that_createcluster_keeps_is_the_quota_that_is_listed(client: Client) -> None:
    name = "ml.trn1.32xlarge for cluster usage"
    api = client("service-quotas")

    def values() -> dict[str, float]:
        pages = api.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker")
        return {quota["QuotaName"]: quota["Value"] for page in pages for quota in page["Quotas"]}

    before = values()
    assert len(before) > 400
    control.handle("POST", control.PREFIX + "quotas", json.dumps({name: 3}).encode())
    try:
        assert values() == before | {name: 3.0}
    finally:
        control.handle("DELETE", control.PREFIX + "quotas", b"")


def test_quotas_of_services_that_it_does_not_know_are_refused_and_not_invented(client: Client) -> None:
    api = client("service-quotas")
    assert api.list_aws_default_service_quotas(ServiceCode="ec2")["Quotas"][0]["Value"] == 5.0
    for ask in (api.list_service_quotas, api.list_aws_default_service_quotas):
        with pytest.raises(ClientError, match="not part of the embedded AWS: quotas of glue"):
            ask(ServiceCode="glue")


def test_a_training_plan_is_described_with_what_no_cluster_holds(client: Client) -> None:
    api = client("sagemaker")
    with pytest.raises(ClientError, match="Training plan summer does not exist"):
        api.describe_training_plan(TrainingPlanName="summer")
    plan = {"summer": {"type": "ml.trn1.32xlarge", "zone": "usw2-az4", "count": 4, "status": "Scheduled"}}
    control.handle("POST", control.PREFIX + "training-plans", json.dumps(plan).encode())
    found = api.describe_training_plan(TrainingPlanName="summer")
    assert (found["Status"], found["TotalInstanceCount"], found["AvailableInstanceCount"]) == ("Scheduled", 4, 4)
    [capacity] = found["ReservedCapacitySummaries"]
    assert (capacity["InstanceType"], capacity["AvailabilityZoneId"]) == ("ml.trn1.32xlarge", "usw2-az4")
