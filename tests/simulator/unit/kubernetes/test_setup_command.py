"""The command that builds the programs."""

import pytest

from local_aws.kubernetes import __main__
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import build


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KubernetesError("no apt source"), 1, "no apt source"),
        (KeyboardInterrupt(), 130, "stopped; the next set-up starts from the beginning"),
    ],
)
def test_the_first_set_up_says_how_long_it_takes_and_why_it_ended(
    error: BaseException, status: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(build, "build", fail)

    assert __main__.main(["setup"]) == status
    printed = capsys.readouterr()
    assert "3 to 15 minutes" in printed.out
    assert printed.err == f"{message}\n"
