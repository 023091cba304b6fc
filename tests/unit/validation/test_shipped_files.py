"""The shipped cluster files."""

import gzip
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from config.instance_types import accelerator
from config.model import slurm_of
from tests import cluster_files
from validation.checked_file import check_source
from validation.load import load_cluster, load_clusters

EXAMPLES = cluster_files.PROJECT / "examples"
PAGES = [cluster_files.PROJECT / "README.md", *(cluster_files.PROJECT / "docs").rglob("*.md"), *EXAMPLES.rglob("*.md")]


def offered(region: str, zone: str) -> set[str]:
    """Return the instance types offered in the zone, from moto's data."""
    file = files("moto").joinpath(f"ec2/resources/instance_type_offerings/availability-zone-id/{region}.json.gz")
    offers = json.loads(gzip.decompress(file.read_bytes()))
    return {f"ml.{offer['InstanceType']}" for offer in offers if offer["Location"] == zone}


def written() -> dict[str, str]:
    """Return every YAML of README, docs and examples, by its place."""
    blocks: dict[str, str] = {}
    for page in PAGES:
        found = re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        blocks |= {f"{page.relative_to(cluster_files.PROJECT)} {index}": text for index, text in enumerate(found)}
    return blocks | {str(path.relative_to(EXAMPLES)): path.read_text() for path in EXAMPLES.glob("**/clusters/*.yaml")}


def test_the_examples_are_there_to_copy() -> None:
    assert [config.name for config in load_clusters(cluster_files.EXAMPLES)] == [
        "eks-p5",
        "eks",
        "fsdp-g5",
        "reference",
        "research-team",
        "resilient-p5",
        "starter",
    ]


# They have no zone.
FRAGMENTS = {
    *(f"docs/operate/eks.md {index}" for index in (0, 1, 3)),
    *(f"docs/reference/configuration.md {index}" for index in (5, 17)),
}


def test_every_yaml_for_users_names_types_that_its_zone_offers() -> None:
    unoffered, pairs, unread = [], 0, set()
    for place, text in written().items():
        problems = check_source(text.encode(), "draft", (EXAMPLES / place).parent).problems
        unoffered += [(place, problem.value) for problem in problems if problem.rule == "type-in-zone"]
        [content, *_] = yaml.safe_load_all(text)
        if "instance_groups" in content and any(problem.level == "error" for problem in problems):
            unread.add(place)
        if isinstance(content, dict) and {"region", "network", "instance_groups"} <= content.keys():
            here = offered(content["region"], content["network"]["availability_zone_id"])
            types = {group["instance_type"] for group in content["instance_groups"]}
            unoffered += [(place, name) for name in types - here]
            pairs += len(types)
    assert (unoffered, pairs > 20, unread) == ([], True, FRAGMENTS)


@pytest.mark.parametrize("path", cluster_files.ALL, ids=lambda path: path.stem)
def test_shipped_files_name_no_account_and_keep_data(path: Path) -> None:
    config = load_cluster(path)
    assert config.account is None
    assert config.storage.lustre is not None
    assert config.storage.lustre.removal == config.storage.data_bucket.removal == "retain"


@pytest.mark.parametrize("path", [*cluster_files.SLURM, *cluster_files.TEAM.glob("*.yaml")], ids=lambda path: path.stem)
def test_shipped_files_say_what_configures_slurm(path: Path) -> None:
    assert "setup" in slurm_of(load_cluster(path)).model_fields_set


def test_the_resilient_example_checks_its_nodes_and_waits_for_it() -> None:
    config = load_cluster(cluster_files.EXAMPLES / "resilient-p5.yaml")
    checked = [group for group in config.instance_groups if group.deep_health_checks]
    assert [(group.instance_type, group.instance_count) for group in checked] == [("ml.p5.48xlarge", 4)]
    assert [str(check) for check in checked[0].deep_health_checks] == ["InstanceStress", "InstanceConnectivity"]
    assert all(accelerator(group.instance_type or "") for group in checked)
    assert (config.node_recovery, config.wait_hours) == ("Automatic", 3)


@pytest.mark.parametrize("path", cluster_files.ALL, ids=lambda path: path.stem)
def test_a_shipped_file_deploys_without_anything_created_before(path: Path) -> None:
    """HyperPod's images have no pam_slurm_adopt, and only one controller is known to start."""
    config = load_cluster(path)
    storage = config.storage
    assert [config.network.existing, storage.existing, storage.openzfs, storage.data_bucket.existing] == [None] * 4
    slurm = config.slurm
    assert slurm is None or (slurm.accounting.database, slurm.restrict_ssh) == ("local", False)
    assert [group.instance_count for group in config.instance_groups if group.role == "controller"] == [1] or config.eks
    assert ":123456789012:" not in "".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))
