"""Options of the commands that reach nodes or read their logs."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ssh", "prod", "--print"], "--print requires --config"),
        (["ssh", "prod", "--identity", "key"], "--identity requires --config"),
        (["ssh", "prod", "--output", "json"], "--output json requires --config"),
        (["ssh", "prod", "workers-1", "--config"], "remove NODE"),
        (["logs", "prod", "--follow"], "add NODE"),
        (["run", "prod", "all"], "Missing argument"),
        (["run", "prod", "all", "--timeout", "0", "--", "true"], "--timeout"),
    ],
)
def test_wrong_usage_ends_with_2_before_any_call(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "prod.yaml").touch()
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, message in result.output) == (2, True), result.output
