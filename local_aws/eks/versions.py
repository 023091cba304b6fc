"""Kubernetes versions of EKS, with their dates.

EKS's release calendar, as the AWS Samples page below had it on 2026-04-24. The status stays that day's. Standard support lasts
14 months, extended support 12 more.
https://aws-samples.github.io/sample-apex-skills/docs/skills/eks-operation-review/references/cluster-lifecycle
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from local_aws.json_service import Json


@dataclass(frozen=True)
class Version:
    """A version and its dates; ``patch`` and ``platform`` are plausible."""

    name: str
    patch: int
    platform: int
    released: datetime
    standard_end: datetime
    extended_end: datetime
    is_standard: bool

    def details(self) -> Json:
        """Return the version in the API's form."""
        status = "standard-support" if self.is_standard else "extended-support"
        return {
            "clusterVersion": self.name,
            "clusterType": "eks",
            "defaultPlatformVersion": f"eks.{self.platform}",
            "defaultVersion": self.name == DEFAULT,
            "releaseDate": self.released,
            "endOfStandardSupportDate": self.standard_end,
            "endOfExtendedSupportDate": self.extended_end,
            "status": status,
            "versionStatus": status.upper().replace("-", "_"),
            "kubernetesPatchVersion": f"{self.name}.{self.patch}",
        }


def _day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _version(name: str, patch: int, platform: int, released: str, standard: str, *, is_standard: bool) -> Version:
    end = _day(standard)
    return Version(name, patch, platform, _day(released), end, end.replace(year=end.year + 1), is_standard)


DEFAULT = "1.35"
_ALL = (
    _version("1.35", 2, 3, "2026-01-27", "2027-03-27", is_standard=True),
    _version("1.34", 4, 10, "2025-10-02", "2026-12-02", is_standard=True),
    _version("1.33", 8, 24, "2025-05-29", "2026-07-29", is_standard=True),
    _version("1.32", 11, 31, "2025-01-23", "2026-03-23", is_standard=True),
    _version("1.31", 14, 47, "2024-09-26", "2025-11-26", is_standard=False),
    _version("1.30", 14, 55, "2024-05-23", "2025-07-23", is_standard=False),
)
VERSIONS = {version.name: version for version in _ALL}
"""The versions, newest first."""


def is_next(now: str, new: str) -> bool:
    """Return whether ``new`` is the minor version after ``now``."""
    names = list(VERSIONS)
    return names.index(new) + 1 == names.index(now)
