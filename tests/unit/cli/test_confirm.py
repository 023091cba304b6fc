"""What a deployment would not change is changed only after a question, or with --yes."""

import sys
from io import StringIO
from typing import Any

import pytest

from cli.confirm import confirmation
from cli.errors import CommandError
from cli.rollback import continue_rollback
from tests.unit.cli.test_unfinished import deployment, stuck


class Terminal(StringIO):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_yes_has_to_be_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("y\n"))
    with pytest.raises(CommandError, match=r"^not a terminal: pass --yes to confirm: Sure\?$"):
        confirmation(yes=False)("Sure?")
    confirmation(yes=True)("Sure?")


@pytest.mark.parametrize("answer", ["n", ""])
def test_only_yes_continues(answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    with pytest.raises(CommandError, match="nothing was changed"):
        confirmation(yes=False)("Sure?")
    assert capsys.readouterr() == ("", "Sure? [y/N]: ")
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    confirmation(yes=False)("Sure?")


def test_a_skip_is_asked_about_with_what_it_skips() -> None:
    account: Any = stuck()
    asked: list[str] = []

    def refuse(question: str) -> None:
        asked.append(question)
        raise CommandError("nothing was changed")

    with pytest.raises(CommandError):
        continue_rollback(deployment(account), skip=True, confirm=refuse)
    assert asked == ["Skip ClusterResource1A2B3C4D of stack draft-Cluster, and end the rollback?"]
    assert account.continued == []
    continue_rollback(deployment(account), confirm=refuse)
    assert account.continued == [{"StackName": "draft-Cluster"}]
