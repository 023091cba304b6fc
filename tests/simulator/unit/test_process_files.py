"""The files of an embedded AWS in the background: readable by the user who started it only."""

from pathlib import Path

import pytest

from local_aws import process


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


def test_a_folder_that_an_earlier_release_left_open_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_AWS_HOME", raising=False)
    monkeypatch.setattr(process, "PROJECT", tmp_path)
    (tmp_path / ".local_aws").mkdir(mode=0o755)
    assert mode(process.home()) == "0o700"


def test_a_folder_of_the_users_choice_is_made_closed_and_otherwise_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    for name, expected in (("new", "0o700"), ("shared", "0o755")):
        monkeypatch.setenv("LOCAL_AWS_HOME", str(tmp_path / name))
        assert mode(process.home()) == expected


def test_the_state_is_replaced_by_a_closed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_AWS_HOME", str(tmp_path))
    for name in ("state.json", "state.new"):
        (tmp_path / name).write_text("open")
    process.note(1, 300.0)
    assert mode(tmp_path / "state.json") == "0o600"
    assert process.status() is not None


def test_a_home_has_one_embedded_aws_from_its_start_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_AWS_HOME", str(tmp_path))
    with process.sole(), pytest.raises(process.ProcessError, match="starting or stopping here; try again"), process.sole():
        pass
    with process.sole():
        process.note(1, 300.0)
        with pytest.raises(process.ProcessError, match="is already running"), process.sole():
            pass


def test_another_user_gets_the_name_of_the_right_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setenv("LOCAL_AWS_HOME", str(tmp_path))
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(process.ProcessError, match=r"state\.json: permission denied; run this as the user who started"):
        process.status()
