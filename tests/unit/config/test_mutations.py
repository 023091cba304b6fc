"""Whatever is done to a shipped file, the answer is a cluster or the problems: never a traceback."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # has no stubs here

from config.catalog import catalog
from config.checked_file import CheckedFile
from config.errors import ConfigError
from config.load import parse_cluster
from config.model import ClusterConfig
from config.report import FORMATS
from config.schema import cluster_schema
from config.yaml_file import read_yaml
from tests.unit.config.odd_documents import change

ROOT = Path(__file__).parents[3]
SHIPPED = [
    path.read_text() for path in sorted([*(ROOT / "clusters").glob("*.yaml"), *(ROOT / "examples" / "clusters").glob("*.yaml")])
]

SCHEMA = Draft7Validator(cluster_schema())
CATALOG = catalog()

ODD_VALUES: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        [
            "",
            "-",
            "ml.p5.48xlarge",
            "10.0.0.0/8",
            "::/0",
            "0.0.0.0/0",
            "controller",
            "usw2-az4",
            "\x00",
            "ë",
            "2.15",
            "*",
            "{",
            "Automatic",
        ]
    ),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just({"name": "x"})), max_size=3),
    st.dictionaries(
        st.sampled_from(
            ["name", "role", "overrides", "existing", "lustre", "AutoPatchConfig", "LifeCycleConfig", "VpcConfig", "", "x y"]
        ),
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just({}), st.just([])),
        max_size=3,
    ),
)


NAMES = ["name", "overrides", "tags", "partition", "existing", "zzz"]


@st.composite
def changed_documents(draw: st.DrawFn) -> str:
    """A shipped file in which some values are something else, missing, doubled, or new."""
    content = copy.deepcopy(yaml.safe_load(draw(st.sampled_from(SHIPPED))))
    for _ in range(draw(st.integers(1, 4))):
        change(draw, content, ODD_VALUES, NAMES)
    return yaml.safe_dump(content, allow_unicode=True)


@st.composite
def changed_texts(draw: st.DrawFn) -> str:
    """A shipped file with pieces of its text cut out or put in."""
    text = draw(st.sampled_from(SHIPPED))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        piece = draw(
            st.sampled_from(
                ["", ":", "- ", "\t", "\n", "[", "}", "&a ", "*a", "!!int ", "? ", "'", "|\n", "---\n", "#", "\x00", "é", "1e9"]
            )
        )
        text = text[:start] + piece + text[start + draw(st.integers(0, 12)) :]
    return text


def check(source: bytes) -> None:
    """The source is a cluster, also to the schema, or each of its problems is one line with what is wrong and a remedy."""
    parsed = parse_cluster(source, "draft")
    if isinstance(parsed, ClusterConfig):
        assert [error.message for error in SCHEMA.iter_errors(read_yaml(source).content)] == [], "editors must not complain"
        return
    error = ConfigError({"draft.yaml": parsed})
    assert parsed
    assert len(str(error).splitlines()) == len(parsed)
    assert all("; " in problem.message for problem in parsed), str(error)
    assert all(problem.rule in CATALOG for problem in parsed), [problem.rule for problem in parsed]
    lines = len(source.decode("utf-8", "replace").splitlines()) + 1
    assert all(problem.place and problem.place.line <= lines for problem in parsed if problem.rule != "file.empty"), str(error)
    for form in FORMATS.values():
        form([CheckedFile("draft.yaml", None, tuple(parsed))]).encode()
    str(error).encode()


# The same examples on every run, so that a pull request fails for what it changed.
QUICK = settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(changed_documents())
def test_a_changed_document_is_a_cluster_or_a_list_of_problems(source: str) -> None:
    check(source.encode())


@QUICK
@given(changed_texts())
def test_a_changed_text_is_a_cluster_or_a_list_of_problems(source: str) -> None:
    check(source.encode("utf-8", "surrogatepass"))


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes_are_a_cluster_or_a_list_of_problems(source: bytes) -> None:
    check(source)


@pytest.mark.parametrize("source", [b"", b"null", b"3", b"[]", b"{}", b"network:", b"a: *b", b"\xef\xbb\xbfregion: us-west-2"])
def test_small_odd_files_are_a_list_of_problems(source: bytes) -> None:
    check(source)
    assert isinstance(parse_cluster(source, "draft"), list)
