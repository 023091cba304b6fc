"""Every cdk-nag finding is acknowledged with a reason, and every acknowledgement is used."""

import shutil

import pytest

from stacks.clusters_app import PROJECT
from tests import cluster_files
from tests.synth.findings import Findings, collect
from tests.synth.variants import write_variants

VARIANTS = (
    *("anywhere", "bucket-read", "bucket-written", "destroyed", "existing-storage", "internet-access", "named", "node-role"),
    *("own-image", "training-plan"),
)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """Return the findings in the shipped files and in variants with other resources."""
    folder = tmp_path_factory.mktemp("nag") / "clusters"
    folder.mkdir()
    shutil.copytree(PROJECT / "examples/scripts", folder.parent / "scripts")  # used by an example
    write_variants(folder, VARIANTS)
    for file in cluster_files.ALL:
        shutil.copy(file, folder)
    return collect(tmp_path_factory.mktemp("out"), folder)


def test_every_finding_is_acknowledged(findings: Findings) -> None:
    assert findings.found
    assert not [
        finding
        for finding in sorted(findings.found)
        if not any(acknowledged.covers(finding) for acknowledged in findings.acknowledged)
    ]


def test_every_acknowledgement_is_used(findings: Findings) -> None:
    assert not [
        acknowledged
        for acknowledged in findings.acknowledged
        if not any(acknowledged.covers(finding) for finding in findings.found)
    ]


def test_nothing_is_acknowledged_for_a_whole_stack_or_stage(findings: Findings) -> None:
    assert not [acknowledged for acknowledged in findings.acknowledged if acknowledged.path.count("/") < 2]


def test_every_reason_has_at_least_four_words(findings: Findings) -> None:
    assert not [acknowledged for acknowledged in findings.acknowledged if len(acknowledged.reason.split()) < 4]
