"""The messages for values that do not match a pattern."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from config.model import ClusterConfig
from validation.patterns import FORMS, corrected, in_words


def patterns(schema: Any) -> Iterator[str]:
    """Yield every pattern of the model."""
    if isinstance(schema, dict):
        yield from (each for key, each in schema.items() if key == "pattern" and isinstance(each, str))
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from patterns(inner)


def test_every_pattern_of_the_model_has_a_description() -> None:
    assert set(patterns(ClusterConfig.model_json_schema())) == set(FORMS), "FORMS of validation/patterns.py has them in words"


def test_a_pattern_without_words_is_shown_itself() -> None:
    assert in_words("^x+$") == "must match ^x+$"
    assert corrected("y", "^x+$") is None


@pytest.mark.parametrize("pattern", FORMS)
@pytest.mark.parametrize("value", ["", "-", " ", "a b", "/", "My_name", "ml.", "\n"])
def test_suggestions_match_the_pattern(pattern: str, value: str) -> None:
    better = corrected(value, pattern)
    assert better is None or re.fullmatch(pattern, better)


@pytest.mark.parametrize(
    ("path", "value", "better"),
    [
        (("instance_groups", 0, "name"), "my_controller", "my-controller"),
        (("cluster_name",), "-x", "x"),
        (("instance_groups", 2, "instance_type"), "g5.8xlarge", "ml.g5.8xlarge"),
        (("instance_groups", 2, "instance_type"), "ML.G5.8XLARGE", "ml.g5.8xlarge"),
        (("instance_groups", 2, "partition"), "my dev", "my-dev"),
        (("region",), "US-WEST-2", "us-west-2"),
        (("region",), "us_west_2", "us-west-2"),
        (("storage", "data_repository_associations", 0, "path"), "data/", "/data"),
        (("storage", "homes"), "/fsx/people/", "/fsx/people"),
        (("storage", "data_repository_associations", 0, "prefix"), "/released/", "released"),
    ],
)
def test_a_near_miss_suggests_a_matching_value(draft: Any, path: tuple[str | int, ...], value: str, better: str) -> None:
    [line] = draft.set(*path, value).lines()
    assert line.endswith(f"; did you mean {better}?")
