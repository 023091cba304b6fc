"""Any change of a shipped file results in a cluster or in problems, never in a traceback (texts: tests/changed_files)."""

import copy
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import cluster_files
from tests.changed_files.invariants import check_invariants
from tests.unit.validation.odd_documents import change

SHIPPED = [path.read_text() for path in cluster_files.ALL]

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
    """Draw a shipped file with some values replaced, missing, duplicated or new."""
    content = copy.deepcopy(yaml.safe_load(draw(st.sampled_from(SHIPPED))))
    for _ in range(draw(st.integers(1, 4))):
        change(draw, content, ODD_VALUES, NAMES)
    return yaml.safe_dump(content, allow_unicode=True)


# The same examples on every run, so that a pull request fails for what it changed.
QUICK = settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(changed_documents())
def test_a_changed_document_is_a_cluster_or_a_list_of_problems(source: str) -> None:
    check_invariants(source.encode())


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes_are_a_cluster_or_a_list_of_problems(source: bytes) -> None:
    check_invariants(source)


@pytest.mark.parametrize("source", [b"", b"null", b"3", b"[]", b"{}", b"network:", b"a: *b", b"\xef\xbb\xbfregion: us-west-2"])
def test_small_odd_files_are_a_list_of_problems(source: bytes) -> None:
    assert check_invariants(source).errors
