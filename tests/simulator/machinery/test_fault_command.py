"""`python -m local_aws fault` and `capacity` talk to the embedded AWS in the background."""

from collections.abc import Iterator

import pytest

from tests.simulator.machinery.test_process import Cli, cli_of


@pytest.fixture
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command line of one that is up."""
    run = cli_of(tmp_path_factory.mktemp("up"))
    assert run("up").returncode == 0
    yield run
    run("down")


def test_faults_and_limits_are_set_listed_refused_and_removed(cli: Cli) -> None:
    assert cli("fault").stdout == "no pending faults\n"
    ordered = "ssm:PutParameter code=Throttling times=2\n"
    assert cli("fault", "ssm:PutParameter", "times=2", "code=Throttling").stdout == ordered
    assert cli("fault").stdout == ordered
    refused = cli("fault", "ssm:PutParametr")
    assert refused.returncode == 1
    assert "service ssm has no operation 'PutParametr'" in refused.stderr
    assert cli("fault", "--clear").stdout == "no pending faults\n"

    assert cli("capacity", "ml.c5.xlarge=4").stdout == cli("capacity").stdout == "ml.c5.xlarge=4\n"
    assert "a limit must be TYPE=COUNT with a whole number, got 'ml.c5.xlarge'" in cli("capacity", "ml.c5.xlarge").stderr
    assert "must start with 'ml.', got 'c5.xlarge'" in cli("capacity", "c5.xlarge=4").stderr
    assert cli("capacity", "--clear").stdout == "no limits\n"
