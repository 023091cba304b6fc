"""Service quotas, found by name, and their remaining room."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, warning


@dataclass(frozen=True)
class Quota:
    """A quota of the account in the region."""

    service: str
    code: str
    name: str
    value: float
    adjustable: bool
    applied: bool
    """Whether this is the account's own value; else it is AWS's default, as Service Quotas knows no other."""


class Quotas:
    """The quotas of a service; AWS's defaults are read once a name has no value in the account."""

    def __init__(self, account: Account, service: str) -> None:
        self._account = account
        self.service = service
        self._applied = self._listed("list_service_quotas", applied=True)
        self._defaults: dict[str, Quota] | None = None

    def get(self, name: str) -> Quota | None:
        """Return the quota with this name."""
        if name in self._applied:
            return self._applied[name]
        if self._defaults is None:
            self._defaults = self._listed("list_aws_default_service_quotas", applied=False)
        return self._defaults.get(name)

    def judged(self, name: str, *, asked: float, used: float | None, unit: str = "", of_others: bool = False) -> CheckResult:
        """Check that the quota has room beside current use, or that of others; None is unknown use."""
        quota = self.get(name)
        if quota is None:
            return warning(
                f"{name}: Service Quotas has no quota with this name", "check the quotas in the console", self._console()
            )
        default = "" if quota.applied else " (AWS's default)"
        in_use = f"{'unknown' if used is None else f'{used:,.0f}'} in use{' by others' if of_others else ''}"
        message = f"{name}: {quota.value:,.0f}{unit}{default}, {in_use}, {asked:,.0f} requested"
        total = (used or 0) + asked
        if total <= quota.value:
            return ok(message)
        if not quota.adjustable:
            return error(
                message, "this quota cannot be increased: delete some, or use another account or region", self.link(quota)
            )
        return error(message, f"request {total:,.0f} or more, which can take days, or reduce the file", self.link(quota))

    def link(self, quota: Quota) -> str:
        """Return the console page to request an increase."""
        return f"{self._console()}/quotas/{quota.code}"

    def _console(self) -> str:
        return f"{self._account.console}/servicequotas/home/services/{self.service}"

    def _listed(self, operation: str, *, applied: bool) -> dict[str, Quota]:
        listed = self._account.all("service-quotas", operation, "Quotas", ServiceCode=self.service)
        return {each["QuotaName"]: self._quota(each, applied=applied) for each in self._known(listed)}

    @staticmethod
    def _known(listed: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Return the quotas with a value; one that could not be read has an ErrorReason instead."""
        return (each for each in listed if "Value" in each)

    def _quota(self, listed: dict[str, Any], *, applied: bool) -> Quota:
        return Quota(
            self.service, listed["QuotaCode"], listed["QuotaName"], listed["Value"], listed.get("Adjustable", True), applied
        )
