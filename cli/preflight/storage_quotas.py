"""Check FSx's quotas for a new file system."""

from collections.abc import Iterator

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, skipped
from cli.preflight.quotas import Quotas

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html; spelt as Service Quotas spells them.
CAPACITY = {each: f"Lustre {each.capitalize()} storage capacity" for each in ("PERSISTENT_1", "PERSISTENT_2")}
SSD = "SSD"
COUNT = {each: f"Lustre {each.capitalize()} file systems" for each in CAPACITY}


def storage_quotas(account: Account) -> Iterator[CheckResult]:
    """Check the number and the capacity of Lustre file systems of the type."""
    lustre = account.config.storage.lustre
    if lustre is None:
        yield skipped("the deployment creates no file system")
        return
    own, kind = account.output("FileSystemId"), lustre.deployment_type.value
    listed = account.all("fsx", "describe_file_systems", "FileSystems")
    others = [
        each
        for each in listed
        if each["FileSystemType"] == "LUSTRE"
        and each["LustreConfiguration"]["DeploymentType"] == kind
        and each["FileSystemId"] != own
        and each["Lifecycle"] != "DELETING"
    ]
    quotas = Quotas(account, "fsx")
    yield quotas.judged(COUNT[kind], asked=1, used=len(others), of_others=True)
    # HDD and Intelligent-Tiering have separate quotas.
    used = sum(each.get("StorageCapacity", 0) for each in others if each.get("StorageType", SSD) == SSD)
    yield quotas.judged(CAPACITY[kind], asked=lustre.storage_capacity_gib, used=used, unit=" GiB", of_others=True)
