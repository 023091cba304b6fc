"""Service quotas, found by name, and their remaining room."""

from functools import cached_property

from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, warning


class Quotas:
    """The quotas of a service; AWS's defaults are read once a name has no value in the account."""

    def __init__(self, account: Account, service: str) -> None:
        self._account, self._service = account, service
        self._applied = self._listed("list_service_quotas")

    @cached_property
    def _defaults(self) -> dict[str, Json]:
        return self._listed("list_aws_default_service_quotas")

    def _listed(self, operation: str) -> dict[str, Json]:
        """Return the quotas with a value; one that could not be read has an ErrorReason instead."""
        listed = self._account.all("service-quotas", operation, "Quotas", ServiceCode=self._service)
        return {each["QuotaName"]: each for each in listed if "Value" in each}

    def judged(self, name: str, *, asked: float, used: float | None, unit: str = "", of_others: bool = False) -> CheckResult:
        """Check that the quota has room beside current use, or that of others; None is unknown use."""
        page = f"{self._account.console}/servicequotas/home/services/{self._service}"
        quota = self._applied.get(name) or self._defaults.get(name)
        if quota is None:
            return warning(f"{name}: Service Quotas has no quota with this name", "check the quotas in the console", page)
        default = "" if name in self._applied else " (AWS's default)"
        in_use = f"{'unknown' if used is None else f'{used:,.0f}'} in use{' by others' if of_others else ''}"
        message = f"{name}: {quota['Value']:,.0f}{unit}{default}, {in_use}, {asked:,.0f} requested"
        total = (used or 0) + asked
        if total <= quota["Value"]:
            return ok(message)
        fix = f"request {total:,.0f} or more, which can take days, or reduce the file"
        if not quota.get("Adjustable", True):
            fix = "this quota cannot be increased: delete some, or use another account or region"
        return error(message, fix, f"{page}/quotas/{quota['QuotaCode']}")
