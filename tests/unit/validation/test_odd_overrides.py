"""No content of `overrides` causes a traceback: rules read them before the API's types are checked."""

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_request.service_model import shape
from tests.unit.cluster_request.request_leaves import CREATE, full
from tests.unit.conftest import VALID
from tests.unit.validation.odd_documents import change
from validation.checked_file import check_source

GROUP = shape(shape(CREATE)["members"]["InstanceGroups"]["shape"])["member"]["shape"]
WHOLE = {
    "group": {name: value for name, value in full(GROUP).items() if name not in ("InstanceGroupName", "InstanceCount")},
    "cluster": {name: value for name, value in full(CREATE).items() if name not in ("ClusterName", "InstanceGroups", "Tags")},
}
ODD: Any = st.sampled_from([None, True, 0, -1, 1.5, "", "x", [], [None], ["x"], [[]], [{}], {}, {"x": None}, {"Subnets": "x"}])
NAMES = ["Subnets", "Spot", "EbsVolumeConfig", "x"]


@st.composite
def odd_overrides(draw: st.DrawFn) -> dict[str, Any]:
    """Draw all members of the API, with some replaced, missing, duplicated or new."""
    whole = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(1, 6))):
        change(draw, whole, ODD, NAMES)
    return whole


@settings(max_examples=60, deadline=None, derandomize=True)
@given(overrides=odd_overrides())
def test_odd_overrides_are_reported_without_traceback(overrides: dict[str, Any]) -> None:
    content = yaml.safe_load(VALID)
    content["overrides"] = overrides.get("cluster")
    content["instance_groups"][2]["overrides"] = overrides.get("group")
    checked = check_source(yaml.safe_dump(content).encode(), "draft", Path())
    assert checked.problems
    assert all(problem.fix for problem in checked.problems), [str(problem) for problem in checked.problems]
