"""Who a caller is and what it may do is decided by the webhooks, certificates and RBAC."""

import dataclasses
import ssl

import pytest

from local_aws.kubernetes.client import Client
from local_aws.kubernetes.control_plane import ControlPlane
from tests.kubernetes.running import processes
from tests.kubernetes.webhook import Webhook

NAMESPACES = "/api/v1/namespaces"


@pytest.fixture
def with_token(admin: Client) -> Client:
    return dataclasses.replace(admin, certificate=None, key=None, token="k8s-aws-v1.alice")


def test_the_webhook_says_who_a_token_is(webhook: Webhook, with_token: Client) -> None:
    webhook.users["k8s-aws-v1.alice"] = {"username": "alice", "groups": ["people"]}

    answer = with_token.call("GET", NAMESPACES)

    assert answer.status == 403
    assert 'User "alice" cannot list resource "namespaces"' in answer.content["message"]
    [review] = [each for each in webhook.reviews if each["kind"] == "TokenReview" and each["spec"]["token"].endswith("alice")]
    assert review["apiVersion"] == "authentication.k8s.io/v1"


def test_a_group_of_the_webhook_counts_in_rbac(webhook: Webhook, with_token: Client) -> None:
    webhook.users["k8s-aws-v1.root"] = {"username": "root", "groups": ["system:masters"]}
    assert dataclasses.replace(with_token, token="k8s-aws-v1.root").call("GET", NAMESPACES).status == 200


def test_a_token_that_the_webhook_denies_is_unauthorized(with_token: Client) -> None:
    answer = dataclasses.replace(with_token, token="k8s-aws-v1.mallory").call("GET", NAMESPACES)
    assert (answer.status, answer.content["reason"]) == (401, "Unauthorized")


def test_the_authorization_webhook_allows_what_rbac_does_not(webhook: Webhook, with_token: Client) -> None:
    webhook.users["k8s-aws-v1.carol"] = {"username": "carol"}
    webhook.allowed.add(("carol", "list", "namespaces"))
    carol = dataclasses.replace(with_token, token="k8s-aws-v1.carol")

    assert carol.call("GET", NAMESPACES).status == 200
    assert carol.call("GET", "/api/v1/pods").status == 403


def test_etcd_refuses_everybody_but_the_api_server(plane: ControlPlane, admin: Client) -> None:
    [command] = [words for words in processes(plane.folder).values() if words[0].endswith("/etcd")]
    [endpoint] = [word.partition("=")[2] for word in command if word.startswith("--listen-client-urls=")]
    etcd = dataclasses.replace(admin, endpoint=endpoint, authority=plane.folder / "pki" / "etcd-authority.crt")

    with pytest.raises((ssl.SSLError, ConnectionError)):
        etcd.call("GET", "/version")
    pki = plane.folder / "pki"
    as_server = dataclasses.replace(etcd, certificate=pki / "etcd-client.crt", key=pki / "etcd-client.key")
    assert "etcdserver" in as_server.call("GET", "/version").content


def test_keys_can_be_read_by_their_owner_only(plane: ControlPlane) -> None:
    assert oct(plane.folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(key.stat().st_mode & 0o777) for key in (plane.folder / "pki").glob("*.key")} == {"0o600"}
