"""The place of a problem in the file."""

from pathlib import Path

import pytest

from config.errors import ConfigError, Place
from validation.checked_file import check_source
from validation.load import load_cluster

FILE = """# a comment
region: us-west-2

network:
  availability_zone_id: usw2-az4
storage: {lustre: {}}
instance_groups:
  - name: head
    role: controller
    instance_type: ml.c5.xlarge
    instance_count: 1
  - {name: work, role: compute, partition: dev, instance_type: ml.p5.48xlarge, instance_count: 4}
"""


def places(source: str) -> list[tuple[str, str]]:
    """Return the rule and the place of each problem of the file."""
    return [(problem.rule, str(problem.place)) for problem in check_source(source.encode(), "draft", Path()).problems]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("region: us-west-2", "region: us-wset-2", ("region-format", "2:1")),
        ("region: us-west-2", "region: 7", ("type", "2:1")),
        ("region: us-west-2", "region: US", ("pattern", "2:1")),
        ("region: us-west-2", "rgion: us-west-2", ("unknown-field", "2:1")),
        ("  availability_zone_id: usw2-az4", "  flow_logs_retention_days: 1", ("missing-field", "4:1")),
        ("role: controller", "role: boss", ("choice", "9:5")),
        ("instance_count: 4", "instance_count: -4", ("bounds", "12:80")),
        ("  availability_zone_id", "  node_cidr: ten\n  availability_zone_id", ("format", "5:3")),
        ("    instance_count: 1\n", "", ("missing-field", "8:5")),
        ("storage: {lustre: {}}", "storage: {lustre: {storage_capacity_gib: 1300}}", ("storage-capacity", "6:20")),
        ("storage:", "network: {}\nstorage:", ("yaml.duplicate-key", "6:1")),
        ("storage: {lustre: {}}", "storage: {lustre: {]}", ("yaml.syntax", "6:20")),
        ("storage: {lustre: {}}", "storage: !x {lustre: {}}", ("yaml.tag", "6:1")),
        ("storage: {lustre: {}}", "storage: {lustre: {}, 1: 2}", ("yaml.key", "6:23")),
        ("storage: {lustre: {}}", "storage:\n\tlustre: {}", ("yaml.tab", "7:1")),
        ("region:", "x: \0\nregion:", ("yaml.character", "2:4")),
        ("role: controller", "role: controller\n    overrides: {\n      Nmae: x}", ("request.unknown-member", "11:7")),
        (
            "role: controller",
            "role: controller\n    overrides: {LifeCycleConfig: {\n     OnCreate: 1}}",
            ("type", "11:6"),
        ),
    ],
)
def test_a_problem_is_placed_at_its_field(old: str, new: str, expected: tuple[str, str]) -> None:
    assert FILE.count(old) == 1
    assert expected in places(FILE.replace(old, new))


def test_a_missing_field_is_placed_at_the_first_field() -> None:
    assert ("missing-field", "2:1") in places("# nothing\nregion: us-west-2\n")


def test_an_entry_of_a_list_is_placed_at_its_start() -> None:
    assert places(FILE + "users:\n  - {name: bob, uid: 10001,\n     groups: [\n       [x]]}\n") == [("type", "16:8")]


def test_an_alias_is_placed_at_its_anchor() -> None:
    tags = "tags: &t {a: 1}\n"
    assert places(FILE + tags) == [("type", "13:11")]
    shared = FILE.replace("    instance_count: 1\n", "    instance_count: 1\n    overrides: &o {Nmae: 1}\n")
    assert places(shared.replace("instance_count: 4}", "instance_count: 4, overrides: *o}")) == [
        ("request.unknown-member", "12:20"),
        ("request.unknown-member", "12:20"),
    ]


def test_problems_come_in_the_order_of_the_file() -> None:
    found = check_source(FILE.replace("dev", "d v").replace("ml.c5", "c5").replace("usw2", "USW2").encode(), "draft", Path())
    assert [problem.place for problem in found.errors] == [Place(5, 3), Place(10, 5), Place(12, 33)]


def test_invalid_bytes_are_placed_on_their_line() -> None:
    [problem] = check_source(b"a: 1\nbc: \xe9", "draft", Path()).problems
    assert (problem.rule, problem.place) == ("yaml.encoding", Place(2, 5))


def test_a_line_of_the_error_begins_as_editors_and_terminals_link_it(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(FILE.replace("usw2-az4", "use1-az4"))
    with pytest.raises(ConfigError) as error:
        load_cluster(tmp_path / "one.yaml")
    [line] = str(error.value).splitlines()
    assert line.startswith(f"{tmp_path}/one.yaml:5:3: network.availability_zone_id: ")
