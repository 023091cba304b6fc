"""Files are changed only where they differ, and never seen half written."""

from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put


def test_a_file_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file"
    assert put(file, "content\n", mode=0o640)
    inode = file.stat().st_ino
    assert not put(file, "content\n", mode=0o640)
    assert file.stat().st_ino == inode
    assert (file.read_text(), file.stat().st_mode & 0o7777) == ("content\n", 0o640)


@pytest.mark.fault(70)
def test_a_secret_gets_its_mode_although_the_file_was_there_for_all_to_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o644)
    with file.open() as held:
        assert put(file, "password", mode=0o600)
        assert held.read() == "old", "who had the file open must not read the new content"
    assert file.stat().st_mode & 0o7777 == 0o600


def test_only_a_wrong_mode_is_mended_too(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("same")
    file.chmod(0o666)
    assert put(file, "same")
    assert file.stat().st_mode & 0o7777 == 0o644


def test_a_link_is_replaced_and_what_it_led_to_stays(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    put(tmp_path / "link", "ours")
    assert (tmp_path / "target").read_text() == "theirs"
    assert not (tmp_path / "link").is_symlink()


def test_a_failure_names_the_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "occupied").touch()
    with pytest.raises(NodeError, match=rf"cannot write {tmp_path}/file: "):
        put(tmp_path / "file", "content")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
