"""The preflight checks the bootstrap version and roles that the `cdk` command line needs."""

import json
from pathlib import Path

from cli.preflight.permissions import EXECUTION, TAKEN_ON
from cli.preflight.prerequisites import LEAST_VERSION, QUALIFIER
from tests.synth.synthesized import Synthesized


def test_the_preflight_checks_the_version_and_roles_in_the_assemblies(shipped: Synthesized, shipped_folder: Path) -> None:
    assert shipped
    artifacts = [
        artifact
        for file in shipped_folder.rglob("manifest.json")
        for artifact in json.loads(file.read_text())["artifacts"].values()
    ]
    stacks = [each["properties"] for each in artifacts if each["type"] == "aws:cloudformation:stack"]
    assert len(stacks) > 3
    assert {each["requiresBootstrapStackVersion"] for each in stacks} == {LEAST_VERSION}
    assert {each["bootstrapStackVersionSsmParameter"] for each in stacks} == {f"/cdk-bootstrap/{QUALIFIER}/version"}
    assert all(f"/cdk-{QUALIFIER}-{EXECUTION}-" in each["cloudFormationExecutionRoleArn"] for each in stacks)
    assert all(f"/cdk-{QUALIFIER}-{TAKEN_ON[0]}-" in each["assumeRoleArn"] for each in stacks)
    assets = json.dumps([json.loads(file.read_text()) for file in shipped_folder.rglob("*.assets.json")])
    assert f"/cdk-{QUALIFIER}-{TAKEN_ON[1]}-" in assets
