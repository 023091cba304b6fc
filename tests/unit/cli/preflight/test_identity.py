"""Who asks, and where."""

import pytest

from cli.preflight.prerequisites import identity, region, zone
from tests.unit.cli.preflight.fake_aws import ACCOUNT, DENIED, FILE, asked, only, outcomes

ZONES = {
    "AvailabilityZones": [
        {"ZoneId": "usw2-az4", "ZoneName": "us-west-2d", "State": "available", "OptInStatus": "opt-in-not-required"},
        {"ZoneId": "usw2-lax1-az1", "ZoneName": "us-west-2-lax-1a", "State": "available", "OptInStatus": "not-opted-in"},
    ]
}


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


def test_the_zones_name_in_this_account_is_reported() -> None:
    assert only(asked(zone, {"ec2.describe_availability_zones": ZONES})).message == "usw2-az4, in this account us-west-2d"


def test_a_zone_that_the_account_does_not_have_is_an_error_that_names_those_that_it_may_have() -> None:
    found = only(asked(zone, {"ec2.describe_availability_zones": {"AvailabilityZones": []}}))
    assert (found.outcome, found.message) == ("error", "us-west-2 has no zone usw2-az4 in this account")
    assert "usw2-az1" in found.fix


@pytest.mark.parametrize(("change", "outcome"), [({"OptInStatus": "not-opted-in"}, "error"), ({"State": "impaired"}, "warning")])
def test_an_unusable_zone_is_reported(change: dict[str, str], outcome: str) -> None:
    zones = {"AvailabilityZones": [{**ZONES["AvailabilityZones"][0], **change}]}
    assert outcomes(asked(zone, {"ec2.describe_availability_zones": zones})) == [outcome]


def test_who_may_not_ask_for_zones_is_warned() -> None:
    assert outcomes(asked(zone, {"ec2.describe_availability_zones": DENIED})) == ["warning"]
