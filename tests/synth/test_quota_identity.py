"""A recreated cluster has another ARN, which the quotas read again only if their template changes."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml

from config.model import ClusterConfig
from stacks.cluster_stage import ClusterStage
from stacks.clusters_app import FEATURE_FLAGS, TEMPLATES
from tests.cluster_files import EXAMPLES
from tests.synth.synthesized import StackTemplate

QUOTA = {"resources": [{"instance_type": "ml.g5.xlarge", "count": 1}]}
TEAM = {"name": "research", "role_arns": ["arn:aws:iam::123456789012:role/Researcher"], "quota": QUOTA}
MORE_NODES = {"instance_count": 3}
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "same": ({}, {}),
    "more-nodes": ({}, MORE_NODES),
    "named": ({"cluster_name": "ml"}, {}),
    "recreate": ({"recreate": True}, {}),
    "recreate-more-nodes": ({"recreate": True}, MORE_NODES),
}


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the identity in the quotas of eks.yaml with each change of the file and of its first group."""
    out = str(tmp_path_factory.mktemp("out"))
    context = json.loads(FEATURE_FLAGS.read_text())
    app = cdk.App(context=context, post_cli_context=TEMPLATES, analytics_reporting=False, outdir=out)
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    content["eks"]["teams"] = [TEAM]
    for name, (change, of_group) in CHANGES.items():
        first, *others = content["instance_groups"]
        file = {**content, "name": name, "instance_groups": [{**first, **of_group}, *others], **change}
        ClusterStage(app, config=ClusterConfig.model_validate(file), environment=cdk.Environment(region=content["region"]))
    app.synth()
    found = {path.parent.name.removeprefix("assembly-"): path for path in Path(out).glob("assembly-*/*Addons*.template.json")}
    return {name: _identity(path) for name, path in found.items()}


def _identity(path: Path) -> str:
    return str(StackTemplate(path.read_text()).properties("Custom::HyperPodComputeQuotas")["Identity"])


def test_a_new_cluster_changes_the_quotas(identities: dict[str, str]) -> None:
    assert len({identities[name] for name in ("same", "named", "recreate")}) == 3


def test_each_update_that_can_recreate_the_cluster_changes_the_quotas(identities: dict[str, str]) -> None:
    assert identities["recreate"] != identities["recreate-more-nodes"]
    assert identities["same"] == identities["more-nodes"]
