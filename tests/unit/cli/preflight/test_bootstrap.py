"""The bootstrap that a deployment needs."""

import json
from pathlib import Path

import pytest

from cli.preflight.prerequisites import LEAST_VERSION, bootstrap
from tests.unit.cli.preflight.fake_aws import ACCOUNT, REGION, asked, only, refused

BUCKET = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"


def answers(version: object = "30", bucket: object = None) -> dict[str, object]:
    parameter = {"Parameter": {"Value": version}} if isinstance(version, str) else version
    return {"ssm.get_parameter": parameter, "s3.head_bucket": bucket or {}}


def test_a_bootstrap_that_is_new_enough_is_well() -> None:
    said = only(asked(bootstrap, answers())).message
    assert said == f"version 30 (at least {LEAST_VERSION} is required), qualifier hnb659fds"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answers(refused("ParameterNotFound")), "is not bootstrapped: no parameter /cdk-bootstrap/hnb659fds/version"),
        (answers("5"), "the bootstrap has version 5, and 6 is required"),
        (answers(bucket=refused("404")), f"the bootstrap has version 30, but bucket {BUCKET} does not exist"),
    ],
)
def test_what_is_missing_of_it_is_an_error_with_the_command_to_run(answer: dict[str, object], said: str) -> None:
    found = only(asked(bootstrap, answer))
    assert found.outcome == "error"
    assert said in found.message
    assert f"`cdk bootstrap aws://{ACCOUNT}/{REGION}`" in found.fix


def test_the_qualifier_is_the_one_of_the_working_directorys_cdk_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "qualifier hnb659fds" in only(asked(bootstrap, answers())).message, "of the checkout's cdk.json"
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"@aws-cdk/core:bootstrapQualifier": "ours"}}))

    def parameter(Name: str) -> dict[str, object]:  # noqa: N803  as boto3 spells it
        assert Name == "/cdk-bootstrap/ours/version"
        return {"Parameter": {"Value": "30"}}

    assert "qualifier ours" in only(asked(bootstrap, {"ssm.get_parameter": parameter, "s3.head_bucket": {}})).message
