import os
from pathlib import Path
from typing import Any

import pytest

from config.errors import ConfigError
from validation.load import load_cluster, load_clusters


@pytest.fixture
def folder(tmp_path: Path, draft: Any) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_bytes(draft.text())
    return tmp_path


def said(error: pytest.ExceptionInfo[ConfigError], folder: Path) -> list[str]:
    return str(error.value).replace(f"{folder}/", "").splitlines()


def test_a_cluster_is_named_after_its_file(folder: Path) -> None:
    assert load_cluster(folder / "one.yaml").name == "one"


def test_a_folder_gives_its_clusters_by_name(folder: Path) -> None:
    assert [config.name for config in load_clusters(folder)] == ["one", "two"]


def test_one_cluster_is_loaded_without_the_others(folder: Path) -> None:
    (folder / "two.yaml").write_text("nonsense: [")
    assert [config.name for config in load_clusters(folder, only="one")] == ["one"]


def test_an_unknown_cluster_lists_the_available_ones(folder: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_clusters(folder, only="onne")
    assert str(error.value) == f'{folder}: cluster: "onne": unknown cluster; available: one, two; did you mean one?'


def test_a_cluster_of_another_name_is_not_suggested(folder: Path) -> None:
    with pytest.raises(
        ConfigError, match="unknown cluster; available: one, two; use one of these, or the folder that has its file"
    ):
        load_clusters(folder, only="eks")


def test_the_problems_of_all_files_are_reported_at_once(folder: Path, draft: Any) -> None:
    (folder / "one.yaml").write_bytes(draft.set("wait_hours", 0).text())
    (folder / "two.yaml").write_bytes(b"region: [")
    with pytest.raises(ConfigError) as error:
        load_clusters(folder)
    lines = said(error, folder)
    assert [line.split(":")[0] for line in lines] == ["one.yaml", "two.yaml"]


def test_an_empty_file_is_rejected(folder: Path) -> None:
    (folder / "one.yaml").write_text("# nothing yet\n")
    with pytest.raises(ConfigError) as error:
        load_cluster(folder / "one.yaml")
    assert said(error, folder) == ["one.yaml: the file is empty; copy a file from examples/clusters/"]


def test_a_file_that_is_not_a_mapping_is_rejected(folder: Path) -> None:
    (folder / "one.yaml").write_text("- region: us-west-2\n")
    with pytest.raises(ConfigError, match="must be a mapping"):
        load_cluster(folder / "one.yaml")


def test_a_missing_file_suggests_the_nearest(folder: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_cluster(folder / "tow.yaml")
    assert said(error, folder) == ['tow.yaml: "tow.yaml": cannot be read: No such file or directory; did you mean two?']


def test_a_folder_instead_of_a_file_is_rejected(folder: Path) -> None:
    (folder / "dir.yaml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_clusters(folder)


def test_a_name_in_the_file_is_rejected(folder: Path, draft: Any) -> None:
    (folder / "one.yaml").write_bytes(draft.set("name", "one").text())
    with pytest.raises(ConfigError) as error:
        load_cluster(folder / "one.yaml")
    assert said(error, folder) == [
        'one.yaml:24:1: name: "one": the file name sets the cluster\'s name; remove this line, or rename the file'
    ]


@pytest.mark.parametrize("stem", ["One", "1one", "o", "one_two", "one.two", "o" * 32])
def test_an_invalid_file_name_is_rejected(folder: Path, draft: Any, stem: str) -> None:
    (folder / f"{stem}.yaml").write_bytes(draft.set("wait_hours", 0).text())
    with pytest.raises(ConfigError) as error:
        load_cluster(folder / f"{stem}.yaml")
    first, second = said(error, folder)
    assert "must be 2-31 lower-case letters, digits or hyphens, and start with a letter; rename the file" in first
    assert "wait_hours" in second


def test_a_file_that_ends_in_yml_is_not_silently_ignored(folder: Path) -> None:
    (folder / "three.yml").write_text("services: {}")
    with pytest.raises(ConfigError) as error:
        load_clusters(folder)
    told = 'three.yml: "three.yml": the file name must end in .yaml; rename it'
    assert said(error, folder) == [told]
    with pytest.raises(ConfigError) as error:
        load_clusters(folder, only="three")
    assert said(error, folder) == [told]
    (folder / "one.yaml").write_bytes(b"region: [")
    with pytest.raises(ConfigError) as error:
        load_clusters(folder)
    assert [line.split(":")[0] for line in said(error, folder)] == ["one.yaml", "three.yml"], "the one hides nothing of the other"


def test_a_file_that_ends_in_yml_does_not_block_other_clusters(folder: Path) -> None:
    (folder / "three.yml").write_text("region: us-west-2")
    assert [config.name for config in load_clusters(folder, only="one")] == ["one"]


def test_hidden_files_are_not_cluster_files(folder: Path) -> None:
    (folder / ".#one.yaml").symlink_to("somebody@somewhere.4711")
    (folder / "._two.yml").write_bytes(b"\0")
    assert [config.name for config in load_clusters(folder)] == ["one", "two"]


def test_a_folder_without_files_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no cluster file found; copy one from examples/clusters/"):
        load_clusters(tmp_path)
    with pytest.raises(ConfigError, match="folder not found; create the folder"):
        load_clusters(tmp_path / "nowhere")


def test_a_file_instead_of_the_folder_suggests_its_folder(folder: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_clusters(folder / "one.yaml")
    assert str(error.value) == (f"{folder}/one.yaml: not a folder; pass {folder}, and one as the cluster")


def test_files_are_named_from_the_working_directory_if_they_are_below_it(
    folder: Path, draft: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "one.yaml").write_bytes(draft.set("wait_hours", 0).text())
    file = folder / "one.yaml"
    for here, shown in ((folder.parent, f"{folder.name}/one.yaml"), (folder, "one.yaml"), (Path("/usr"), str(file))):
        monkeypatch.chdir(here)
        with pytest.raises(ConfigError, match=f"^{shown}:24:1: wait_hours"):
            load_cluster(file)
    monkeypatch.chdir(folder.parent)
    with pytest.raises(ConfigError, match=f"^{folder.name}/one.yaml:24:1: wait_hours"):
        load_cluster(Path(folder.name, "one.yaml"))


def test_two_files_cannot_share_a_cluster_name_in_one_region(folder: Path, draft: Any) -> None:
    draft.set("cluster_name", "ml")
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_bytes(draft.text())
    with pytest.raises(ConfigError) as error:
        load_clusters(folder)
    assert said(error, folder) == [
        'two.yaml:24:1: cluster_name: "ml": already used by one.yaml; use another name, or remove it to generate one'
    ]
    draft.set("region", "us-east-1").set("network", "availability_zone_id", "use1-az4")
    (folder / "two.yaml").write_bytes(draft.text())
    assert len(load_clusters(folder)) == 2


def test_a_loaded_cluster_does_not_change(folder: Path) -> None:
    config = load_cluster(folder / "one.yaml")
    with pytest.raises(ValueError, match="frozen"):
        setattr(config, "wait_hours", 2)  # noqa: B010  a plain assignment is refused by mypy, too


def test_a_file_without_an_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "large.yaml").write_bytes(b"a" * 2**21)
    with pytest.raises(ConfigError) as error:
        load_clusters(tmp_path)
    found = said(error, tmp_path)
    assert 'large.yaml: "large.yaml": cannot be read: larger than 1,024 KiB; check its name and permissions' in found
    for name in ("pipe", "zero"):
        assert f'{name}.yaml: "{name}.yaml": cannot be read: not a regular file; check its name and permissions' in found
