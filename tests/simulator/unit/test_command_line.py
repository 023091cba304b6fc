import pytest

from local_aws.__main__ import main, parser


@pytest.mark.parametrize(
    ("given", "region", "command"),
    [
        (["aws", "--version"], "us-west-2", ["aws", "--version"]),
        (["--", "aws", "--version"], "us-west-2", ["--", "aws", "--version"]),
        (["--region", "eu-west-1", "aws", "--region", "x"], "eu-west-1", ["aws", "--region", "x"]),
        (["--region", "eu-west-1", "--", "aws", "--", "x"], "eu-west-1", ["--", "aws", "--", "x"]),
    ],
)
def test_a_command_keeps_its_own_options(given: list[str], region: str, command: list[str]) -> None:
    options = parser().parse_args(["run", *given])
    assert (options.region, options.command) == (region, command)


@pytest.mark.parametrize("given", [[], ["--"]])
def test_no_command_is_answered_with_an_example(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *given]) == 1
    assert capsys.readouterr().err.startswith("no command given; pass one, e.g. ")
