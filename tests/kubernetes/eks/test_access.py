"""Access to a real API server with the real `aws eks get-token` and Debian's kubectl."""

import json
import subprocess
from datetime import timedelta

import pytest

from local_aws.clock import host_now
from local_aws.eks import tokens as verification
from tests.kubernetes.eks.conftest import Person, Site
from tests.simulator.eks.tokens import token
from tests.simulator.eks.world import ACCOUNT, POLICY

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "none"}]},
}


@pytest.fixture(scope="module")
def admin(site: Site) -> Person:
    person = site.person("admin")
    for name in ("team-a", "team-b"):
        made = person.kubectl("create", "namespace", name)
        assert made.returncode == 0, made.stderr
    return person


@pytest.fixture(scope="module")
def reader(site: Site, admin: Person) -> Person:
    return site.person("reader")


def _is_unauthorized(result: subprocess.CompletedProcess[str]) -> bool:
    return result.returncode != 0 and any(text in result.stderr for text in ("Unauthorized", "must be logged in"))


def test_an_administrator_may_do_everything(admin: Person) -> None:
    assert admin.kubectl("auth", "can-i", "*", "*", "--all-namespaces").stdout.strip() == "yes"
    assert admin.kubectl("get", "--raw", "/metrics").returncode == 0


def test_a_viewer_reads_and_is_forbidden_by_name_to_write(reader: Person) -> None:
    seen = reader.kubectl("get", "pods", "--all-namespaces")
    assert seen.returncode == 0, seen.stderr
    refused = reader.kubectl("create", "namespace", "mine")
    assert refused.returncode != 0
    name = f"arn:aws:sts::{ACCOUNT}:assumed-role/reader/alice"
    assert f'namespaces is forbidden: User "{name}" cannot create resource "namespaces"' in refused.stderr


def test_an_editor_of_a_namespace_reaches_only_that_namespace(site: Site, admin: Person) -> None:
    editor = site.person("editor")
    (editor.home / "pod.json").write_text(json.dumps(POD))
    made = editor.kubectl("-n", "team-a", "create", "-f", "pod.json", "--dry-run=server")
    assert "serviceaccount" in made.stderr or made.returncode == 0, made.stderr  # admission follows authorization
    assert "forbidden: User" not in made.stderr
    assert "is forbidden: User" in editor.kubectl("-n", "team-b", "get", "pods").stderr
    same = site.api(token(editor.keys))
    for path, status in (("namespaces/team-a/pods", 200), ("namespaces/team-b/pods", 403), ("pods", 403), ("nodes", 403)):
        assert same.call("GET", f"/api/v1/{path}").status == status, path


def test_a_role_without_an_entry_is_not_authenticated(site: Site, admin: Person) -> None:
    assert _is_unauthorized(site.person("stranger").kubectl("get", "pods"))


def test_the_cli_and_the_tests_make_the_same_kind_of_token(site: Site, reader: Person) -> None:
    made = json.loads(reader.run("aws", "eks", "get-token", "--cluster-name", "ml").stdout)["status"]["token"]
    assert reader.with_token(made).returncode == 0
    assert reader.with_token(token(reader.keys)).returncode == 0


def test_a_token_for_another_cluster_is_refused(reader: Person) -> None:
    other = json.loads(reader.run("aws", "eks", "get-token", "--cluster-name", "other").stdout)["status"]["token"]
    assert _is_unauthorized(reader.with_token(other))


def test_a_token_with_another_secret_is_refused(reader: Person) -> None:
    assert _is_unauthorized(reader.with_token(token({**reader.keys, "aws_secret_access_key": "wrong"})))


def test_an_expired_token_is_refused(reader: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    # With the lifetime of the token before and in its second, this would be that token, which the API server remembers for 10 s.
    made = token(reader.keys, expires=59)
    monkeypatch.setattr(verification, "host_now", lambda: host_now() + timedelta(minutes=16))
    assert _is_unauthorized(reader.with_token(made))


def test_access_ends_with_the_policy_and_with_the_entry(site: Site, admin: Person) -> None:
    site.admit("guest", "AdminView")
    names = {"clusterName": "ml", "principalArn": f"arn:aws:iam::{ACCOUNT}:role/guest"}
    guest = site.api(token(site.session(names["principalArn"])))
    site.until(lambda: {"status": guest.call("GET", "/api/v1/secrets").status}, 200)
    site.eks.disassociate_access_policy(**names, policyArn=POLICY.format("AdminView"))
    site.until(lambda: {"status": guest.call("GET", "/api/v1/secrets").status}, 403)
    site.eks.delete_access_entry(**names)
    again = site.api(token(site.session(names["principalArn"])))  # the API server remembers a valid token for 10 s
    site.until(lambda: {"status": again.call("GET", "/api/v1/secrets").status}, 401)


def test_coredns_is_degraded_without_nodes(site: Site, admin: Person) -> None:
    site.eks.create_addon(clusterName="ml", addonName="coredns")
    site.until(lambda: site.addon("coredns"), "DEGRADED")
