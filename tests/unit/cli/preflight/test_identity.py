"""Who asks, and where."""

import pytest

from cli.preflight.prerequisites import identity, region, zone
from tests.unit.cli.preflight.fake_aws import ACCOUNT, FILE, asked, lines, only, outcomes

ZONES = [
    {"ZoneId": "usw2-az4", "ZoneName": "us-west-2d", "State": "available", "OptInStatus": "opt-in-not-required"},
    {"ZoneId": "usw2-lax1-az1", "ZoneName": "us-west-2-lax-1a", "State": "available", "OptInStatus": "not-opted-in"},
]


def test_the_account_is_reported() -> None:
    assert only(asked(identity, {})).message == f"account {ACCOUNT}, as arn:aws:sts::{ACCOUNT}:assumed-role/dev/me"


def test_the_root_user_is_a_warning() -> None:
    root = {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:root"}
    assert outcomes(asked(identity, {"sts.get_caller_identity": root})) == ["warning"]


def test_a_different_region_of_the_environment_is_allowed_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert only(asked(region, {})).message == "us-west-2, as in the file"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    found = only(asked(region, {}))
    assert (found.outcome, found.message) == ("warning", "us-west-2, as in the file, but the environment has us-east-1")
    without = FILE.replace("region: us-west-2\n", "")
    assert only(asked(region, {}, without)).message == "us-west-2, from the environment, as the file has no `region`"


HERE = "usw2-az4, in this account us-west-2d"


@pytest.mark.parametrize(
    ("zones", "line", "fix"),
    [
        (ZONES, f"ok: {HERE}", ""),
        ([], "error: us-west-2 has no zone usw2-az4 in this account", "usw2-az1"),
        ([{**ZONES[0], "OptInStatus": "not-opted-in"}], "error: ", ""),
        ([{**ZONES[0], "State": "impaired"}], "warning: ", ""),
    ],
    ids=["named as in this account", "absent", "not opted in", "impaired"],
)
def test_the_zone_is_usable(zones: list[dict[str, str]], line: str, fix: str) -> None:
    found = asked(zone, {"ec2.describe_availability_zones": {"AvailabilityZones": zones}})
    assert [each.startswith(line) for each in lines(found)] == [True]
    assert fix in found[0].fix
