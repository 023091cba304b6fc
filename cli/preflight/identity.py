"""Check the credentials, the region and the zone."""

import os
from collections.abc import Iterator

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, warning
from config.zones import zone_fix


def identity(account: Account) -> Iterator[CheckResult]:
    """Report who is asking; the command has compared the account with the file's before."""
    arn = account.identity["Arn"]
    if arn.endswith(":root"):
        yield warning(
            f"account {account.id}, as its root user", "use a role: the root user's permissions cannot be limited or checked"
        )
    else:
        yield ok(f"account {account.id}, as {arn}")


def region(account: Account) -> Iterator[CheckResult]:
    """Compare the file's region with the environment's."""
    wanted, here = account.config.region, os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if wanted is None:
        yield ok(f"{account.region}, from the environment, as the file has no `region`")
    elif here and here != wanted:
        yield warning(
            f"{wanted}, as in the file, but the environment has {here}",
            f"other commands would use it: `export AWS_REGION={wanted}`, or `unset AWS_REGION AWS_DEFAULT_REGION`",
        )
    else:
        yield ok(f"{wanted}, as in the file")


def zone(account: Account) -> Iterator[CheckResult]:
    """Check that the region has the availability zone, and that the account may use it."""
    wanted = account.config.network.availability_zone_id
    zones = {
        each["ZoneId"]: each
        for each in account.client("ec2").describe_availability_zones(AllAvailabilityZones=True)["AvailabilityZones"]
    }
    if wanted not in zones:
        yield error(f"{account.region} has no zone {wanted} in this account", zone_fix(wanted, account.region))
        return
    found = zones[wanted]
    if found.get("OptInStatus") == "not-opted-in":
        yield error(f"{wanted} ({found['ZoneName']}) is not opted in", "opt in to its zone group, or use another zone")
    elif found.get("State", "available") != "available":
        yield warning(f"{wanted} ({found['ZoneName']}) is {found['State']}", "wait, or use another zone")
    else:
        yield ok(f"{wanted}, in this account {found['ZoneName']}")
