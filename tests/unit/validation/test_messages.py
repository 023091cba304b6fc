"""The exact messages for invalid values."""

from typing import Any

import pytest
import yaml

from config.errors import ConfigError, Problem, dotted, shown
from validation.checked_file import check_source
from validation.load import parse_cluster
from validation.report import FORMATS, problems


@pytest.mark.parametrize("word", ["instnace_count", "InstanceCount", "count"])
def test_a_required_field_under_another_name_is_one_mistake(draft: Any, word: str) -> None:
    draft.remove("instance_groups", 2, "instance_count")
    draft.set("instance_groups", 2, word, 4)
    [line] = draft.lines()
    assert line.startswith(f"instance_groups[2].{word}: 4: unknown field; did you mean instance_count")


def test_a_field_in_the_apis_spelling_suggests_the_field(draft: Any) -> None:
    draft.set("network", "AvailabilityZoneId", "usw2-az4")
    assert draft.lines()[0].endswith("did you mean availability_zone_id?")


def test_an_unknown_field_like_no_other_lists_all(draft: Any) -> None:
    [line] = draft.set("storage", "zzz", 1).lines()
    assert line.endswith("use data_bucket, data_repository_associations, existing, homes, lustre or openzfs")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"storage:\n  lustre:\n    version: 2.15\n",
            'storage.lustre.version: 2.15: must be text, but is a number in YAML; quote it: "2.15"',
        ),
        (
            b"storage:\n  lustre:\n    version: 2.10\n",
            'storage.lustre.version: 2.1: must be text, but is a number in YAML; quote it: "2.10"',
        ),
        (b"account: 123456789012\n", 'account: 123456789012: must be text, but is a number in YAML; quote it: "123456789012"'),
        (b"account: 012345670123\n", 'account: 12345670123: must be text, but is a number in YAML; quote it: "012345670123"'),
        (b"tags:\n  Cost: 42\n", 'tags.Cost: 42: must be text, but is a number in YAML; quote it: "42"'),
        (b"tags:\n  Spot: true\n", 'tags.Spot: true: must be text, but is a boolean in YAML; quote it: "true"'),
    ],
)
def test_text_that_yaml_reads_as_another_type_suggests_quotes(text: bytes, said: str) -> None:
    parsed = parse_cluster(text, "draft")
    assert isinstance(parsed, list)
    assert said in [str(problem) for problem in parsed]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("wait_hours",), "2", '"2": must be a whole number, without quotes; '),
        (("wait_hours",), True, "true: must be a whole number, without quotes; "),
        (("wait_hours",), 0, "0: too small; use 1 to 12"),
        (("wait_hours",), 13, "13: too large; use 1 to 12"),
        (("trust_source_account",), "yes", '"yes": must be true or false, without quotes; '),
        (("network", "availability_zone_id"), None, "null: must be text; "),
        (("storage",), None, "null: must be a section with indented fields; "),
        (("storage",), [], "[]: must be a section with indented fields; "),
        (("overrides",), 3, "3: must be a mapping with indented `key: value` lines; "),
        (("instance_groups",), {"name": "x"}, '{"name": "x"}: must be a list, in [ ] or with - before each entry; '),
        (
            ("cluster_name",),
            "-x",
            '"-x": must be 1-63 letters, digits or hyphens, and start and end with a letter or digit; ',
        ),
        (("cluster_name",), "x" * 64, f'"{"x" * 64}": too long; use at most 63 characters'),
        (("account",), "1234", '"1234": must be 12 digits; use the account from `aws sts get-caller-identity`'),
    ],
)
def test_an_invalid_value_shows_what_is_valid(draft: Any, path: tuple[str, ...], value: object, said: str) -> None:
    lines = draft.set(*path, value).lines()
    assert any(line.startswith(f"{dotted(path)}: {said}") for line in lines), lines


@pytest.mark.parametrize(
    ("path", "value", "remedy"),
    [
        (("wait_hours",), "2", "write 2"),
        (("wait_hours",), "0x2", "write 2"),
        (("wait_hours",), 2.0, "write 2"),
        (("wait_hours",), 13, "use 1 to 12"),
        (("trust_source_account",), "yes", "write true"),
        (("trust_source_account",), "off", "write false"),
        (("trust_source_account",), "perhaps", "check aws:SourceAccount in the node role's trust policy"),
        (("network", "availability_zone_id"), None, "set it: availability zone id"),
        (("storage", "lustre", "version"), None, "set a value, or remove this line"),
        (("network",), "usw2-az4", "add `availability_zone_id`"),
        (("tags",), "team=speech", "write `team: speech` on a line below it"),
        (("tags",), {"team": None}, "write text, or remove this line"),
        (("users",), {"alice": 10001}, "start each entry with a minus"),
        (("instance_groups", 2, "deep_health_checks"), "InstanceStress", "write [InstanceStress]"),
        (("instance_groups", 2, "instance_type"), "ml.p5", "did you mean ml.p5.48xlarge"),
        (("storage", "data_bucket", "existing"), "s3://Our_Data/sets", "did you mean our-data?"),
        (("storage", "existing", "file_system_id"), "fs-01234567.fsx.us-west-2.amazonaws.com", "did you mean fs-01234567?"),
        (("slurm", "accounting", "host"), "mysql://db.example.com:3306/slurm", "did you mean db.example.com?"),
        (("lifecycle", "on_create"), "./start.sh", "did you mean start.sh?"),
    ],
)
def test_the_fix_is_what_to_write(draft: Any, path: tuple[str | int, ...], value: object, remedy: str) -> None:
    lines = draft.set(*path, value).lines()
    assert any(f"; {remedy}" in line for line in lines), lines


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(draft: Any) -> None:
    draft.set("wait_hours", 0).set("instance_groups", 1, "role", "porter").set("network", "node_cidr", "10.0.0.0/20").set(
        "colour", 1
    )
    assert [dotted(problem.path) for problem in draft.problems()] == [
        "network.node_cidr",
        "instance_groups[1].role",
        "wait_hours",
        "colour",
    ]


def test_a_list_of_which_every_entry_is_wrong_is_not_called_short(draft: Any) -> None:
    draft.set("instance_groups", [{**group, "instance_count": -1} for group in draft.content["instance_groups"]])
    assert [problem.path[-1] for problem in draft.problems()] == ["instance_count"] * 3


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 1000)) == 80
    assert shown("x" * 1000).endswith("...")


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("slurm", "accounting", "password"), "hunter2"),
        (("slurm", "acounting"), {"host": "db", "db_password": "hunter2"}),
        (("users",), [{"name": "alice", "uid": 10001, "passwd": "hunter2"}]),
        (("tags", "api-token"), ["hunter2"]),
        (("slurm", "passwords"), ["hunter2"]),
        (("tags",), "password=hunter2"),
        (("slurm", "accounting", "secret_arn"), "hunter2"),
        (("overrides",), {"Orchestrator": {"Slurm": {"AccountingDatabase": {"SecretArn": "hunter2", "Nmae": "x"}}}}),
        (("tags",), [{"Key": "password", "Value": "hunter2"}]),
        (("overrides",), {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Credentials": {"Name": "a", "Text": "hunter2"}}}}}),
    ],
)
def test_a_secret_value_is_never_printed(draft: Any, form: str, path: tuple[str, ...], value: object) -> None:
    draft.set(*path, value)
    checked = check_source(yaml.safe_dump(draft.content).encode(), "draft", draft.folder)
    assert checked.errors
    assert "hunter2" not in FORMATS[form]([checked])
    assert "hunter2" not in str(problems([checked]))


def test_a_numeric_secret_is_not_repeated_in_the_fix(draft: Any) -> None:
    [line] = draft.set("tags", {"password": 271828}).lines()
    assert line == 'tags.password: "...": must be text, but is a number in YAML; put it in quotes'


def test_the_arn_of_a_secret_is_not_secret(draft: Any) -> None:
    [line] = draft.set("slurm", "accounting", {"secret_arn": "arn:aws:iam::1:x"}).lines()
    assert "arn:aws:iam::1:x" in line


def test_a_path_names_odd_keys_in_quotes() -> None:
    assert dotted(("tags", "cost center", 3, "a")) == 'tags["cost center"][3].a'


def test_an_error_has_one_line_for_each_problem_of_each_file() -> None:
    error = ConfigError(
        {"a.yaml": [Problem(("x",), "one\ntwo", "is bad; mend it")], "b.yaml": [], "c.yaml": [Problem((), 1, "no; yes")]}
    )
    assert str(error).splitlines() == ['a.yaml: x: "one\\ntwo": is bad; mend it', "c.yaml: 1: no; yes"]
    assert list(error.problems) == ["a.yaml", "c.yaml"]
