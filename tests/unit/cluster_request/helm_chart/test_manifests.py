"""Reading manifests: scalars as kubectl reads them, lists, and namespaces."""

import json
from pathlib import Path

import pytest
import yaml

from cluster_request.helm_chart.chart import hook_of, name_of, objects_in
from cluster_request.helm_chart.program import HelmError, template
from tests.helm import path_with_helm

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"


# Each line is a value that YAML 1.1, YAML 1.2 or Python reads differently.
SCALARS = """
a: 80:80
b: 2024-01-01
c: yes
d: off
e: 0644
f: 1e3
g: 08
h: ~
i: 1.5Gi
j: 0x1f
k: =
l: "1"
m: v1.10
o: y
p: N
q: 1_000
r: 0o17
s: .5
t: 1:30
u: +5
v: 1.
w: -0x1F
x: &base {one: 1}
z: {<<: *base, two: 2}
1: a
true: b
1.5: c
"""


def test_scalars_and_keys_are_read_as_helm_reads_them(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: scalars\nversion: 0.1.0\n")
    (tmp_path / "templates" / "scalars.yaml").write_text("json: {{ `" + SCALARS + "` | fromYaml | toJson | quote }}\n")
    with path_with_helm():
        expected = json.loads(yaml.safe_load(template(tmp_path, {}, None))["json"])
    [item] = objects_in(f"{HEAD}data:\n" + "".join(f"  {line}\n" for line in SCALARS.strip().splitlines()))
    assert item["data"] == expected
    assert json.dumps(item["data"], sort_keys=True) == json.dumps(expected, sort_keys=True)


def test_lists_and_empty_documents_are_unfolded() -> None:
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}}"
    text = f"# only a comment\n---\n{HEAD}---\n---\napiVersion: v1\nkind: List\nitems: [{pod}]\n"
    assert [name_of(item) for item in objects_in(text)] == ["ConfigMap kube-system/one", "Pod kube-system/p"]


@pytest.mark.parametrize(
    ("version", "kind", "expected"),
    [
        ("v1", "ConfigMap", "kube-system"),
        ("apps/v1", "DaemonSet", "kube-system"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "kube-system"),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", None),
        ("v1", "PersistentVolume", None),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", None),
        ("example.com/v1", "Queue", "kube-system"),
        ("example.com/v1", "Flavor", None),
        ("cert-manager.io/v1", "ClusterIssuer", None),
    ],
)
def test_objects_get_the_releases_namespace_unless_their_kind_has_none(version: str, kind: str, expected: str | None) -> None:
    definitions = "".join(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        f"metadata: {{name: {name}}}\nspec: {{group: example.com, scope: {scope}, names: {{kind: {name}}}}}\n---\n"
        for name, scope in (("Queue", "Namespaced"), ("Flavor", "Cluster"))
    )
    item = objects_in(f"{definitions}apiVersion: {version}\nkind: {kind}\nmetadata: {{name: one}}\n")[-1]
    assert item["metadata"].get("namespace") == expected


def test_a_namespace_of_the_chart_stays() -> None:
    [item] = objects_in(HEAD.replace("{name: one}", "{name: one, namespace: kubeflow}"))
    assert name_of(item) == "ConfigMap kubeflow/one"


def test_hooks_are_recognized_by_their_annotation() -> None:
    [item] = objects_in(HEAD.replace("{name: one}", "{name: one, annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}}"))
    assert hook_of(item) == "pre-install,pre-upgrade"
    assert hook_of(objects_in(HEAD)[0]) == ""


@pytest.mark.parametrize(
    "text", ["just text", "a: b", "apiVersion: v1\nkind: Pod", "a: [", "apiVersion: 1\nkind: Pod", f"{HEAD}data: !!binary aGk="]
)
def test_what_is_no_object_is_an_error(text: str) -> None:
    with pytest.raises(HelmError, match=r"^the chart's manifests cannot be read: .*; correct the chart$"):
        objects_in(text)
