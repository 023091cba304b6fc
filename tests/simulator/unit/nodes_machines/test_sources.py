import pytest

from local_aws.builds.errors import HostError
from local_aws.builds.sources import Source, candidates, choose

MIRROR, SECURITY = "http://mirror.example/debian/", "http://mirror.example/debian-security/"
BOOKWORM = [
    f"{SECURITY} bookworm-security main",
    f"{MIRROR} bookworm main",
    f"{MIRROR} bookworm-updates main",
    f"{MIRROR} bookworm non-free-firmware",
    f"{MIRROR} bookworm-backports main",
    "https://vendor.example/apt cloud-bookworm main",
    "https://vendor.example/linux bookworm stable",
    "https://vendor.example/node nodistro main",
    "https://vendor.example/db bookworm-pgdg main",
]


def test_a_machines_own_sources_lead_to_a_newer_release() -> None:
    assert candidates(BOOKWORM, "bookworm", "trixie") == [
        Source(SECURITY, "trixie-security"),
        Source(MIRROR, "trixie"),
        Source(MIRROR, "trixie-updates"),
    ]


def test_sources_that_name_a_release_by_its_age_are_understood() -> None:
    assert candidates([f"{MIRROR} stable main"], "bookworm", "trixie") == [Source(MIRROR, "trixie")]


def test_another_distribution_has_no_candidates_unless_debian_was_added() -> None:
    ubuntu = ["http://archive.example/ubuntu/ noble main", "http://archive.example/ubuntu/ noble-updates main"]

    assert candidates(ubuntu, "noble", "trixie") == [
        Source("http://archive.example/ubuntu/", f"trixie{p}") for p in ("", "-updates")
    ]
    assert candidates([*ubuntu, f"{MIRROR} trixie main"], "noble", "trixie")[-1] == Source(MIRROR, "trixie")


def test_a_source_is_trusted_only_with_debians_keys() -> None:
    line = Source(MIRROR, "trixie").line

    assert line == f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {MIRROR} trixie main"


def test_trixie_is_taken_where_it_can_be_had() -> None:
    suite, chosen = choose(BOOKWORM, "bookworm", lambda source: source.uri == MIRROR)

    assert (suite, chosen) == ("trixie", [Source(MIRROR, "trixie"), Source(MIRROR, "trixie-updates")])


def test_bookworm_is_taken_where_trixie_cannot_be_had() -> None:
    suite, _ = choose(BOOKWORM, "bookworm", lambda source: source.release.startswith("bookworm"))

    assert suite == "bookworm"


def test_a_release_without_its_main_pocket_is_not_taken() -> None:
    with pytest.raises(HostError, match=r"need Debian trixie or bookworm, but no apt source here \(bookworm\) offers it"):
        choose(BOOKWORM, "bookworm", lambda source: source.release.endswith("-updates"))
