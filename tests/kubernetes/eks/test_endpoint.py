"""The endpoint of a real API server: which people and functions reach it."""

from typing import Any

import pytest

from local_aws.kubernetes.client import Client
from tests.kubernetes.eks.conftest import Person, Site
from tests.simulator.eks.tokens import token
from tests.simulator.machinery.account import EVERYTHING, document, package

CALLING = """
import http.client, ssl
def handler(event, context):
    connection = http.client.HTTPSConnection(event, context=ssl._create_unverified_context())
    try:
        connection.request("GET", "/readyz")
        return str(connection.getresponse().status)
    except OSError as error:
        return type(error).__name__
"""


@pytest.fixture(scope="module")
def admin(site: Site) -> Person:
    return site.person("admin")


@pytest.fixture(scope="module")
def api(site: Site, admin: Person) -> Client:
    return site.api(token(admin.keys))


def function(site: Site, name: str, **options: Any) -> None:
    """Create a function that calls the endpoint."""
    iam = site.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trust))["Role"]["Arn"]
    iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=document(EVERYTHING))
    code = {"ZipFile": package(index_py=CALLING)}
    usual = {"Runtime": "python3.13", "Handler": "index.handler", "Timeout": 30}
    site.client("lambda").create_function(FunctionName=name, Role=role, Code=code, **usual, **options)


def answer(site: Site, name: str) -> str:
    """Return the status of the function's call, or its error."""
    place = site.cluster()["endpoint"].removeprefix("https://")
    reply = site.client("lambda").invoke(FunctionName=name, Payload=f'"{place}"')
    return str(reply["Payload"].read().decode()).strip('"')


def test_a_private_endpoint_is_for_functions_of_the_vpc(site: Site, api: Client) -> None:
    ec2, group = site.client("ec2"), site.ids["group"]
    ec2.authorize_security_group_ingress(
        GroupId=group, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    )
    function(site, "outside")
    function(site, "inside", VpcConfig={"SubnetIds": [site.ids["a"]], "SecurityGroupIds": [group]})
    assert api.call("GET", "/api/v1/nodes").status == 200
    assert [answer(site, "outside").isdigit(), answer(site, "inside").isdigit()] == [True, True]

    site.change_access(endpointPublicAccess=False, endpointPrivateAccess=True)
    with pytest.raises(OSError, match=r"reset|EOF|closed"):
        api.call("GET", "/api/v1/nodes")
    assert not answer(site, "outside").isdigit()
    assert answer(site, "inside").isdigit()

    site.change_access(endpointPublicAccess=True)
    assert api.call("GET", "/api/v1/nodes").status == 200
