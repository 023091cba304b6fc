"""A control plane without nodes is Kubernetes: it stores, validates, controls and schedules."""

import subprocess
from typing import Any

from local_aws.kubernetes.client import Client, Response
from local_aws.kubernetes.control_plane import ControlPlane
from local_aws.kubernetes.programs import store
from tests.kubernetes.running import until

APPLY = "application/apply-patch+yaml"
JOB = {
    "metadata": {"name": "train"},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "it", "image": "busybox"}]}}},
}
GROUP, VERSION = "example.com", "v1"
CRD = {
    "metadata": {"name": f"trainings.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "trainings", "kind": "Training"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": {"nodes": {"type": "integer"}}}},
                    }
                },
            }
        ],
    },
}


def kubectl(plane: ControlPlane, *arguments: str) -> str:
    programs = store.find(store.CONTROL_PLANE)
    assert programs is not None
    pki = plane.folder / "pki"
    identity = [f"--client-certificate={pki / 'admin.crt'}", f"--client-key={pki / 'admin.key'}"]
    server = [f"--server={plane.endpoint}", f"--certificate-authority={pki / 'authority.crt'}"]
    command = [str(programs / "kubectl"), *server, *identity, f"--cache-dir={plane.folder / 'kubectl'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout.strip()


def apply(client: Client, path: str, manager: str, body: dict[str, Any]) -> Response:
    return client.call("PATCH", f"{path}?fieldManager={manager}", body, APPLY)


def test_all_programs_are_of_one_version(admin: Client, plane: ControlPlane) -> None:
    assert admin.call("GET", "/version").content["gitVersion"] == "v1.20.2"
    assert '"gitVersion": "v1.20' in kubectl(plane, "version", "--output=json")


def test_a_pod_of_a_job_stays_pending_without_nodes(admin: Client, namespace: str) -> None:
    assert admin.call("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", JOB).status == 201

    def conditions() -> list[dict[str, str]]:
        pods = admin.call("GET", f"/api/v1/namespaces/{namespace}/pods").content["items"]
        return [condition for pod in pods for condition in pod["status"].get("conditions", [])]

    until(conditions)
    [scheduled] = conditions()
    assert (scheduled["type"], scheduled["status"], scheduled["reason"]) == ("PodScheduled", "False", "Unschedulable")
    assert "no nodes available" in scheduled["message"]


def test_rbac_decides_what_a_user_may_do(plane: ControlPlane, namespace: str) -> None:
    kubectl(plane, "--namespace", namespace, "create", "role", "reader", "--verb=get,list", "--resource=pods")
    kubectl(plane, "--namespace", namespace, "create", "rolebinding", "reader", "--role=reader", "--user=alice")

    def may(verb: str, user: str = "alice") -> str:
        return kubectl(plane, "--namespace", namespace, "auth", "can-i", verb, "pods", "--as", user)

    until(lambda: may("get") == "yes")
    assert may("delete") == "no"
    assert may("get", "bob") == "no"


def test_server_side_apply_refuses_to_take_the_field_of_another_manager(admin: Client, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/settings"
    settings: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}

    assert apply(admin, path, "first", {**settings, "data": {"color": "red"}}).status == 201
    conflict = apply(admin, path, "second", {**settings, "data": {"color": "blue"}})
    other_field = apply(admin, path, "second", {**settings, "data": {"size": "1"}})
    forced = apply(admin, f"{path}", "second&force=true", {**settings, "data": {"color": "blue"}})

    assert (conflict.status, conflict.content["reason"]) == (409, "Conflict")
    assert 'conflict with "first"' in conflict.content["message"]
    assert (other_field.status, other_field.content["data"]) == (200, {"color": "red", "size": "1"})
    assert forced.content["data"] == {"color": "blue"}


def test_a_resource_of_a_new_kind_is_checked_against_its_schema(admin: Client, namespace: str) -> None:
    assert admin.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD).status == 201
    path = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/trainings"
    until(lambda: admin.call("GET", path).status == 200)

    def create(nodes: object) -> Response:
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Training", "metadata": {"name": "it"}, "spec": {"nodes": nodes}}
        return admin.call("POST", path, body)

    wrong, right = create("two"), create(2)
    assert (wrong.status, wrong.content["reason"]) == (422, "Invalid")
    assert "spec.nodes in body must be of type integer" in wrong.content["message"]
    assert right.status == 201


def test_a_deleted_namespace_takes_its_content_along(admin: Client, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}"
    admin.call("POST", f"{path}/configmaps", {"metadata": {"name": "content"}})
    admin.call("DELETE", path)
    until(lambda: admin.call("GET", path).status == 404)
