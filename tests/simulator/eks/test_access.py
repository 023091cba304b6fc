"""Access entries and their policies: who is authenticated, and what EKS allows beside RBAC."""

import base64
import json
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from config.model import ClusterConfig
from local_aws import durations
from local_aws.clock import host_now
from local_aws.credentials import OWNER
from local_aws.demo import administrator
from local_aws.eks import model
from local_aws.eks import tokens as verification
from local_aws.environment import aws_environment
from tests.cluster_files import EXAMPLES
from tests.simulator.eks.tokens import STS, encoded, review, token
from tests.simulator.eks.world import ACCOUNT, POLICY, REGION, ROLES, VIEWER, World, trust

pytestmark = pytest.mark.local
VIEW_RULES = [{"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]}]
NODE = f"arn:aws:iam::{ACCOUNT}:role/node"


@pytest.fixture
def cluster(world: World) -> World:
    durations.change({"eks.access": 0})
    world.create()
    return world


def settle() -> None:
    """Wait until the API servers know all access entries."""
    end = time.monotonic() + 5
    while any(each.effective != each.entries for each in model.everything()):
        assert time.monotonic() < end
        time.sleep(0.005)


def admit(world: World, principal: str = VIEWER, **settings: Any) -> dict[str, Any]:
    entry: dict[str, Any] = world.eks.create_access_entry(clusterName="ml", principalArn=principal, **settings)["accessEntry"]
    settle()
    return entry


def authenticated(world: World, text: str) -> dict[str, Any]:
    return review(world, "TokenReview", {"token": text})


def user_of(world: World, text: str) -> dict[str, Any]:
    status = authenticated(world, text)
    assert status["authenticated"], status
    user: dict[str, Any] = status["user"]
    return user


def allowed(world: World, user: dict[str, Any], verb: str, resource: str, **more: str) -> bool:
    extra = {name.lower(): values for name, values in user["extra"].items()}
    spec = {"user": user["username"], "extra": extra, "resourceAttributes": {"verb": verb, "resource": resource, **more}}
    return bool(review(world, "SubjectAccessReview", spec)["allowed"])


def refusal(call: Any, **request: Any) -> str:
    with pytest.raises(ClientError) as refused:
        call(clusterName="ml", **request)
    return str(refused.value.response["Error"]["Message"])


def test_a_roles_session_is_the_user_of_its_entry(cluster: World) -> None:
    admit(cluster, kubernetesGroups=["researchers"])
    user = user_of(cluster, token(cluster.session(name="alice@example.com")))
    assert user["username"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/viewer/alice-example.com"
    assert user["groups"] == ["researchers"]
    assert user["extra"]["canonicalArn"] == [VIEWER]
    assert user["extra"]["sessionName"] == ["alice@example.com"]


def test_a_users_own_name_and_template(cluster: World) -> None:
    iam = cluster.client("iam")
    arn = iam.create_user(UserName="bob")["User"]["Arn"]
    made = iam.create_access_key(UserName="bob")["AccessKey"]
    keys = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}
    admit(cluster, arn)
    assert user_of(cluster, token(keys))["username"] == arn
    cluster.eks.update_access_entry(clusterName="ml", principalArn=arn, username="bob:{{AccountID}}")
    settle()
    assert authenticated(cluster, token(keys))["user"]["username"] == f"bob:{ACCOUNT}"
    iam.delete_access_key(UserName="bob", AccessKeyId=made["AccessKeyId"])
    iam.delete_user(UserName="bob")


def test_an_entry_is_effective_only_after_some_seconds(world: World) -> None:
    world.create()
    durations.change({"eks.access": 1e9})
    world.eks.create_access_entry(clusterName="ml", principalArn=VIEWER)
    assert "has no access entry" in authenticated(world, token(world.session()))["error"]


def test_a_deleted_entry_ends_access(cluster: World) -> None:
    admit(cluster)
    keys = cluster.session()
    user_of(cluster, token(keys))
    cluster.eks.delete_access_entry(clusterName="ml", principalArn=VIEWER)
    settle()
    assert "has no access entry" in authenticated(cluster, token(keys))["error"]


def test_the_creator_is_an_administrator_if_the_request_says_so(world: World) -> None:
    text = token(OWNER.client_keys)
    world.create()
    assert not authenticated(world, text)["authenticated"]
    world.create(name="own", accessConfig={"authenticationMode": "API"})
    [creator] = world.eks.list_access_entries(clusterName="own")["accessEntries"]
    policies = world.eks.list_associated_access_policies(clusterName="own", principalArn=creator)["associatedAccessPolicies"]
    assert [each["policyArn"] for each in policies] == [POLICY.format("ClusterAdmin")]
    assert review(world, "TokenReview", {"token": token(OWNER.client_keys, cluster="own")}, 1)["authenticated"]


def test_the_demo_has_an_administrator_beside_those_of_the_file(cluster: World, tmp_path: Path) -> None:
    boss = f"arn:aws:iam::{ACCOUNT}:role/ops/Boss"
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    config = ClusterConfig.model_validate({**content, "name": "ml", "eks": {"version": "1.34", "admins": [boss]}})
    environment = administrator.assume(config, aws_environment(cluster.endpoint, REGION, tmp_path, OWNER))
    admit(cluster, boss)  # as the deployment does; the role must exist
    administrator.grant(config, environment)
    settle()
    keys = {name: environment[name.upper()] for name in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")}
    admin = user_of(cluster, token(keys))["extra"]["arn"][0]
    found = cluster.eks.list_associated_access_policies(clusterName="ml", principalArn=administrator.ARN)
    assert "/PlatformAdmin/" in admin
    assert [each["policyArn"] for each in found["associatedAccessPolicies"]] == [POLICY.format("ClusterAdmin")]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"cluster": "other"}, "not valid for this cluster"),
        ({"keys": {"aws_secret_access_key": "wrong"}}, "not valid for this cluster"),
        ({"keys": {"aws_access_key_id": "AKIANOBODY"}}, "not valid for this cluster"),
        ({"url": "https://sts.example.com/"}, "unexpected hostname"),
        ({"url": f"http://sts.{REGION}.amazonaws.com/"}, "unexpected hostname"),
        ({"url": f"{STS}/path"}, "unexpected path"),
        ({"query": "Action=GetSessionToken&Version=2011-06-15"}, "unexpected action"),
        ({"query": "Action=GetCallerIdentity&Version=2011-06-15&x=y"}, "non-whitelisted"),
        ({"service": "iam"}, "not for sts"),
        ({"expires": 901}, "X-Amz-Expires"),
        ({"headers": {}}, "did not sign the x-k8s-aws-id header"),
    ],
)
def test_refused_tokens(cluster: World, changes: dict[str, Any], reason: str) -> None:
    admit(cluster)
    keys = cluster.session()
    user_of(cluster, token(keys))
    given = {**changes, "keys": {**keys, **changes.get("keys", {})}}
    status = authenticated(cluster, token(**given))
    assert not status["authenticated"]
    assert reason in status["error"]


def test_a_repeated_parameter_is_refused(cluster: World) -> None:
    once = token(cluster.session()).removeprefix("k8s-aws-v1.")
    url = base64.urlsafe_b64decode(once + "=" * (-len(once) % 4)).decode()
    assert "multiple values" in authenticated(cluster, encoded(f"{url}&Action=GetCallerIdentity"))["error"]


@pytest.mark.parametrize("text", ["", "eyJhbGciOi", "k8s-aws-v1.\u00e4", "k8s-aws-v1.a", encoded("/?"), encoded("https://[")])
def test_what_is_no_token(cluster: World, text: str) -> None:
    status = authenticated(cluster, text)
    assert not status["authenticated"]
    assert status["error"]


@pytest.mark.parametrize(("minutes", "is_valid"), [(14, True), (16, False), (-6, False)])
def test_a_token_lives_for_fifteen_minutes(
    cluster: World, monkeypatch: pytest.MonkeyPatch, minutes: float, is_valid: bool
) -> None:
    admit(cluster)
    text = token(cluster.session())
    user_of(cluster, text)
    monkeypatch.setattr(verification, "host_now", lambda: host_now() + timedelta(minutes=minutes))
    assert authenticated(cluster, text)["authenticated"] is is_valid


def test_the_url_of_the_embedded_aws_is_one_of_sts(cluster: World) -> None:
    admit(cluster)
    assert user_of(cluster, token(cluster.session(), url=f"{cluster.endpoint}/"))


def test_a_recreated_role_is_another_principal(cluster: World) -> None:
    iam = cluster.client("iam")
    iam.create_role(RoleName="node", AssumeRolePolicyDocument=trust("sagemaker.amazonaws.com"))
    entry = admit(cluster, NODE, type="HYPERPOD_LINUX")
    assert entry["username"] == "system:node:{{SessionName}}"
    user = user_of(cluster, token(cluster.session(NODE, "hyperpod-i-0abc")))
    assert (user["username"], user["groups"]) == ("system:node:hyperpod-i-0abc", ["system:nodes"])
    iam.delete_role(RoleName="node")
    iam.create_role(RoleName="node", AssumeRolePolicyDocument=trust("sagemaker.amazonaws.com"))
    assert "deleted principal" in authenticated(cluster, token(cluster.session(NODE, "hyperpod-i-0abc")))["error"]
    iam.delete_role(RoleName="node")


def test_a_node_of_ec2_needs_its_instances_name(cluster: World) -> None:
    cluster.client("iam").create_role(RoleName="node", AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
    admit(cluster, NODE, type="EC2_LINUX")
    assert "no instance 'somebody'" in authenticated(cluster, token(cluster.session(NODE, "somebody")))["error"]
    ec2 = cluster.client("ec2")
    image = ec2.describe_images()["Images"][0]["ImageId"]
    run = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, SubnetId=cluster.ids["a"])["Instances"][0]
    user = authenticated(cluster, token(cluster.session(NODE, run["InstanceId"])))["user"]
    assert user["username"] == f"system:node:{run['PrivateDnsName']}"
    ec2.terminate_instances(InstanceIds=[run["InstanceId"]])
    cluster.client("iam").delete_role(RoleName="node")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"principalArn": f"arn:aws:iam::{ACCOUNT}:role/nobody"}, "invalid principal"),
        ({"kubernetesGroups": ["system:masters"]}, "cannot start with"),
        ({"username": "system:admin"}, "cannot begin with"),
        ({"type": "EC2_LINUX", "kubernetesGroups": ["a"]}, "cannot be specified"),
        ({"type": "FARGATE_LINUX"}, "not part of the embedded AWS"),
    ],
)
def test_refused_entries(cluster: World, entry: dict[str, Any], reason: str) -> None:
    assert reason in refusal(cluster.eks.create_access_entry, **{"principalArn": VIEWER, **entry})


def test_entries_exist_once_and_are_listed_by_policy(cluster: World) -> None:
    admit(cluster)
    assert "already in use" in refusal(cluster.eks.create_access_entry, principalArn=VIEWER)
    policy = {"policyArn": POLICY.format("View"), "accessScope": {"type": "cluster"}}
    cluster.eks.associate_access_policy(clusterName="ml", principalArn=VIEWER, **policy)
    listed = cluster.eks.list_access_entries(clusterName="ml", associatedPolicyArn=policy["policyArn"])["accessEntries"]
    assert listed == [VIEWER]
    cluster.eks.disassociate_access_policy(clusterName="ml", principalArn=VIEWER, policyArn=policy["policyArn"])
    assert "No associated access policy" in refusal(
        cluster.eks.disassociate_access_policy, principalArn=VIEWER, policyArn=policy["policyArn"]
    )
    assert len(cluster.eks.list_access_policies()["accessPolicies"]) == 5


@pytest.mark.parametrize(
    ("policy", "scope", "reason"),
    [
        ("Emperor", {"type": "cluster"}, "not valid"),
        ("Edit", {"type": "namespace"}, "must have namespaces"),
        ("Edit", {"type": "cluster", "namespaces": ["a"]}, "must not have namespaces"),
    ],
)
def test_refused_policies(cluster: World, policy: str, scope: dict[str, Any], reason: str) -> None:
    admit(cluster)
    request = {"principalArn": VIEWER, "policyArn": POLICY.format(policy), "accessScope": scope}
    assert reason in refusal(cluster.eks.associate_access_policy, **request)


def test_nodes_have_no_access_policies(cluster: World) -> None:
    admit(cluster, type="HYPERPOD_LINUX")
    request = {"principalArn": VIEWER, "policyArn": POLICY.format("View"), "accessScope": {"type": "cluster"}}
    assert "cannot be associated" in refusal(cluster.eks.associate_access_policy, **request)


def test_a_policy_allows_what_its_cluster_role_allows_in_its_namespaces(cluster: World) -> None:
    cluster.programs.planes[0].objects[f"{ROLES}view"] = {"rules": VIEW_RULES}
    admit(cluster)
    scope = {"type": "namespace", "namespaces": ["team-*"]}
    cluster.eks.associate_access_policy(clusterName="ml", principalArn=VIEWER, policyArn=POLICY.format("View"), accessScope=scope)
    settle()
    user = authenticated(cluster, token(cluster.session()))["user"]
    assert allowed(cluster, user, "get", "pods", namespace="team-a")
    assert allowed(cluster, user, "get", "pods", namespace="team-a", subresource="log")
    assert not allowed(cluster, user, "delete", "pods", namespace="team-a")
    assert not allowed(cluster, user, "get", "pods", namespace="default")
    assert not allowed(cluster, user, "list", "pods")


def test_without_the_cluster_role_a_policy_allows_nothing(cluster: World) -> None:
    admit(cluster)
    request = {"principalArn": VIEWER, "policyArn": POLICY.format("Edit"), "accessScope": {"type": "cluster"}}
    cluster.eks.associate_access_policy(clusterName="ml", **request)
    settle()
    user = authenticated(cluster, token(cluster.session()))["user"]
    assert not allowed(cluster, user, "get", "pods", namespace="default")


def test_users_without_an_entry_are_left_to_rbac(cluster: World) -> None:
    spec = {"user": "system:kube-scheduler", "resourceAttributes": {"verb": "list", "resource": "nodes"}}
    assert review(cluster, "SubjectAccessReview", spec) == {"allowed": False}


def test_only_the_path_with_the_clusters_secret_answers(cluster: World) -> None:
    url = cluster.programs.planes[0].webhooks["token_webhook"].rsplit("/", 1)[0] + "/guess"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url, b'{"apiVersion": "authentication.k8s.io/v1", "spec": {"token": ""}}')
    with refused.value as answer:
        assert answer.code == 400


def test_permissions_of_a_functions_role_are_enforced(cluster: World) -> None:
    """Sessions of roles need permissions for EKS's actions, on the ARN of the cluster or of its part."""
    from local_aws.iam import assume  # noqa: PLC0415  moto is loaded once the environment is set

    iam = cluster.client("iam")
    iam.create_role(RoleName="function", AssumeRolePolicyDocument=trust("lambda.amazonaws.com"))
    session = assume(ACCOUNT, f"arn:aws:iam::{ACCOUNT}:role/function", "lambda.amazonaws.com", "f")
    mine = cluster.client("eks", **session.client_keys)
    with pytest.raises(ClientError, match=r"not authorized to perform: eks:DescribeCluster on resource: .*:cluster/ml") as denied:
        mine.describe_cluster(name="ml")
    assert denied.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    arn = f"arn:aws:eks:{REGION}:{ACCOUNT}"
    allowed = {"eks:DescribeCluster": f"{arn}:cluster/ml", "eks:DescribeAccessEntry": f"{arn}:access-entry/ml/role/*"}
    statements = [{"Effect": "Allow", "Action": action, "Resource": resource} for action, resource in allowed.items()]
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_role_policy(RoleName="function", PolicyName="p", PolicyDocument=document)
    assert mine.describe_cluster(name="ml")["cluster"]["name"] == "ml"
    with pytest.raises(ClientError, match=r"eks:DescribeAccessEntry on resource: .*:access-entry/ml/\*"):
        mine.describe_access_entry(clusterName="ml", principalArn=VIEWER)
    admit(cluster)
    assert mine.describe_access_entry(clusterName="ml", principalArn=VIEWER)["accessEntry"]["principalArn"] == VIEWER
    with pytest.raises(ClientError, match="not authorized to perform: eks:DeleteAccessEntry"):
        mine.delete_access_entry(clusterName="ml", principalArn=VIEWER)
