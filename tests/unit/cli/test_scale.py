"""`hpod scale` changes one number in the file, and nothing else."""

from pathlib import Path

import pytest

from cli.errors import CommandError
from cli.scale import scale, with_count
from config.errors import ConfigError
from tests.unit.cli.fake_nodes import FILE
from validation.yaml.reader import read_yaml

GROUPS = """\
region: us-west-2
instance_groups:
  - name: head  # one is enough
    instance_count: 1
  - instance_count: 2  # asked for by alice
    name: "workers"
    overrides: {InstanceCount: 2}
"""


def test_only_the_number_changes() -> None:
    assert with_count(GROUPS, "workers", 16)[0] == GROUPS.replace("count: 2  #", "count: 16  #")
    assert with_count(GROUPS, "head", 0)[0] == GROUPS.replace("count: 1", "count: 0")


@pytest.mark.parametrize("text", [GROUPS.replace("\n", "\r\n"), f"\ufeff{GROUPS}", GROUPS.rstrip()])
def test_line_ends_and_marks_are_kept(text: str) -> None:
    assert with_count(text, "workers", 3)[0] == text.replace("count: 2  #", "count: 3  #")


@pytest.mark.parametrize(("newline", "end"), [("\n", "\n"), ("\r\n", "\r\n"), ("\n", "")])
def test_a_missing_count_is_written_below_the_name(newline: str, end: str) -> None:
    head = f"instance_groups:{newline}  - name: a  # first"
    assert with_count(f"{head}{end}", "a", 3)[0] == f"{head}{newline}    instance_count: 3{end}"


def test_a_missing_count_of_a_flow_mapping_is_written_behind_the_name() -> None:
    assert with_count("instance_groups: [{name: a}, {name: b, instance_count: 1}]", "a", 3)[0] == (
        "instance_groups: [{name: a, instance_count: 3}, {name: b, instance_count: 1}]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "n: &n 2\ninstance_groups: [{name: a, instance_count: *n}]",
        "instance_groups: [{name: a, instance_count: &n 2}, {name: b, instance_count: *n}]",
        "x: &g {name: a, instance_count: 2}\ninstance_groups: [*g]",
    ],
)
def test_anchors_that_would_change_other_fields_are_refused(text: str) -> None:
    assert not read_yaml(text.encode()).problems
    with pytest.raises(CommandError, match=r"instance_groups\[0\].instance_count: an anchor or alias .*; set it to 9 by hand"):
        with_count(text, "a", 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GROUPS, "unknown group 'worker'; available: head, workers; did you mean workers?"),
        ("region: us-west-2", "instance_groups: missing; add a list of groups"),
        ("instance_groups: [{name: worker}, {name: worker}]", "instance_groups: duplicate group 'worker'; rename one of them"),
    ],
)
def test_a_group_that_is_not_there_once_is_refused(text: str, message: str) -> None:
    with pytest.raises(CommandError) as error:
        with_count(text, "worker", 9)
    assert str(error.value) == message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "draft.yaml"
    file.write_text(FILE)
    return file


def test_the_difference_and_the_next_commands_are_printed(path: Path) -> None:
    result = scale(clusters=path.parent, cluster="draft", group="workers", count=9)
    assert result.data is not None
    assert (result.data["before"], result.data["after"], result.data["written"]) == (2, 9, True)
    assert path.read_text() == FILE.replace("count: 2", "count: 9")
    assert f"cdk deploy -c clusters={path.parent} 'draft/*'" in str(result)


@pytest.mark.parametrize(("count", "is_warned"), [(1, True), (3, False)])
def test_a_smaller_count_ends_the_jobs_of_nodes_that_hyperpod_chooses(path: Path, count: int, *, is_warned: bool) -> None:
    text = str(scale(clusters=path.parent, cluster="draft", group="workers", count=count))
    assert ("HyperPod chooses the nodes to delete, and their jobs end; `./hpod delete --scale`" in text) is is_warned


def test_a_dry_run_writes_nothing(path: Path) -> None:
    result = scale(clusters=path.parent, cluster=str(path), group="workers", count=9, dry_run=True)
    assert result.data is not None
    assert result.data["diff"].count("\n+") == 2
    assert path.read_text() == FILE


def test_a_count_that_breaks_a_rule_is_refused_before_it_is_written(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"instance_groups\[\d\].instance_count: 7000"):
        scale(clusters=path.parent, cluster="draft", group="workers", count=7000)
    assert path.read_text() == FILE


def test_a_file_with_errors_in_its_yaml_is_refused_with_them(path: Path) -> None:
    path.write_text(f"{FILE}\nregion: [")
    with pytest.raises(ConfigError):
        scale(clusters=path.parent, cluster="draft", group="workers", count=2)


def test_an_unknown_cluster_is_named_with_the_others(path: Path) -> None:
    with pytest.raises(ConfigError, match="available: draft"):
        scale(clusters=path.parent, cluster="draf", group="workers", count=2)
