"""cfn-lint finds nothing in any template, in the regions of the cluster files."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cfnlint.config import ConfigMixIn, ManualArgs
from cfnlint.decode.decode import decode_str
from cfnlint.runner import Runner, run_template_by_data

from tests import cluster_files
from tests.synth.synthesized import STACKS, Synthesized
from validation.load import load_clusters

REGIONS = {config.name: config.region for folder in cluster_files.FOLDERS for config in load_clusters(folder)}

IGNORED = {
    "W3005": "redundant dependencies: constructs depend on whole constructs, so that none of their resources is forgotten",
}


def configuration(region: str = "us-west-2") -> Any:
    """Return the settings of cfn-lint."""
    return ConfigMixIn(**ManualArgs(regions=[region], ignore_checks=[*IGNORED]))


@cache
def rules() -> Any:
    """Return the rules, which `cfnlint.api.lint` loads for each template: ten times the time of checking a small one."""
    return Runner(configuration()).rules


def problems(text: str, region: str) -> list[str]:
    """Return the findings of cfn-lint."""
    template, errors = decode_str(text)
    assert not errors
    found = run_template_by_data(template, configuration(region), rules())
    return [f"{match.rule.id} at {'/'.join(map(str, match.path or []))}: {match.message}" for match in found]


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("cluster", sorted(REGIONS))
def test_a_shipped_template_is_clean_in_its_region(shipped: Synthesized, cluster: str, stack: str) -> None:
    region = REGIONS[cluster]
    assert region is not None
    assert problems(shipped[cluster, stack].text, region) == []


@pytest.mark.parametrize(
    ("variant", "stack"),
    [
        ("existing-network", "Network"),
        ("internet-access", "Network"),
        ("destroyed", "Storage"),
        ("existing-storage", "Storage"),
        ("persistent-1", "Storage"),
    ],
)
def test_a_template_of_a_variant_is_clean(variants: Synthesized, variant: str, stack: str) -> None:
    assert problems(variants[variant, stack].text, "us-west-2") == []


def test_an_unknown_property_is_found(shipped: Synthesized, tmp_path: Path) -> None:
    template = json.loads(shipped["reference", "Network"].text)
    [vpc] = [resource for resource in template["Resources"].values() if resource["Type"] == "AWS::EC2::VPC"]
    vpc["Properties"]["CidrBlok"] = "10.0.0.0/16"
    assert problems(json.dumps(template), "us-west-2")
