"""A command line that is wrong is told what is wrong with it."""

import pytest

from cli.__main__ import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "hpod: error: no command is given; use adopt, continue-rollback, cost, "),
        ("validat reference", "hpod: error: there is no command validat; did you mean validate?"),
        ("--clusters x validate", "hpod: error: --clusters stands before the command; write the command first, then its options"),
        ("validate --fromat json", "hpod validate: error: there is no option --fromat; did you mean --format?"),
        ("validate --fromat=json", "hpod validate: error: there is no option --fromat; did you mean --format?"),
        ("cost one two", "hpod cost: error: two is one too many; write options behind all names, and `./hpod cost -h`"),
        ("preflight", "hpod preflight: error: the following arguments are required: CLUSTER|FILE"),
    ],
)
def test_what_is_wrong_with_the_words_is_said_by_the_command_that_they_are_for(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert said in capsys.readouterr().err


def test_help_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "continue-rollback" in capsys.readouterr().out
