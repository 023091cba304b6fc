"""This machine's programs, found with the PATH that a user happens to have."""

from local_aws.builds.programs import find_programs_of_root


def test_programs_of_root_are_found_after_su_without_a_dash() -> None:
    environment = {"PATH": "/project/.venv/bin:/usr/local/bin:/usr/bin:/bin"}
    find_programs_of_root(environment)
    assert environment["PATH"] == "/project/.venv/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def test_a_path_that_has_the_folders_keeps_its_order() -> None:
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    find_programs_of_root(environment)
    assert environment == {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
