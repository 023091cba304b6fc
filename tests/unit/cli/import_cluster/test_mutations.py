"""Whatever is done to an original, the answer is a file or the problems, each on a line with its remedy: never a traceback."""

import copy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.import_cluster import Choices, Keep, Original, imported
from config.errors import ConfigError, Problem
from tests.unit.cli.import_cluster.originals import PARAMETERS, REQUEST, Json, changed, reference
from tests.unit.cli.import_cluster.test_eks import REQUEST as EKS_REQUEST
from tests.unit.cli.import_cluster.test_eks import TAINTED
from tests.unit.validation.odd_documents import change

ODD: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10_000),
    st.floats(),
    st.text(st.characters(), max_size=8),
    st.sampled_from(
        ["", "head", "work", "on_create.sh", "${ROLE}", "Controller", "ml.g5.8xlarge", "1e5", "\ud800", "fs-01234567.x"]
    ),
    st.sampled_from([{}, [], [{}], [None], {"Eks": {}}, {"NodeType": "Login"}, {"InstanceTypes": ["ml.g5.8xlarge"]}, ["a", "a"]]),
)
NAMES = [
    *("InstanceRequirements", "SlurmConfig", "LifeCycleConfig", "OnInitComplete", "Orchestrator", "Tags", "NodeRecovery"),
    *("KubernetesConfig", "ClusterArn", "Effect", "AutoScaling", "ClusterRole", "NodeProvisioningMode"),
    *("fsx_openzfs_dns_name", "login_group", "zzz", "SourceS3URI", "OnStartDeepHealthChecks", "InstanceStorageConfigs"),
]
RICH: Json = {**REQUEST, "Tags": [{"Key": "team", "Value": "vision"}], "NodeRecovery": "None"}

KARPENTER: Json = {"NodeProvisioningMode": "Continuous", "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}
ON_EKS: Json = {**changed(EKS_REQUEST, "InstanceGroups", TAINTED), **KARPENTER}
API_DRIVEN: Json = reference("continuous").request


@st.composite
def changed_documents(draw: st.DrawFn, document: Json) -> Json:
    """The document with some of its values replaced, taken away, doubled, or new."""
    made = copy.deepcopy(document)
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        change(draw, made, ODD, NAMES)
    return made


@settings(max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    changed_documents(RICH) | changed_documents(API_DRIVEN),
    st.just(PARAMETERS) | st.none() | changed_documents(PARAMETERS),
    st.sampled_from(Keep),
    st.booleans(),
    st.sampled_from(["vpc-0123456789abcdef0"] * 5 + [None]),
)
def test_a_changed_original_gives_a_file_or_problems(
    request: Json, parameters: Json | None, keep: Keep, drop: bool, vpc: str | None
) -> None:
    choices = Choices(keep=keep, zone="usw2-az4", vpc_id=vpc, drop_unknown_groups=drop)
    found = problems_of(Original(request, parameters), choices)
    assert all(problem.fix for problem in found), found


def problems_of(original: Original, choices: Choices) -> list[Problem]:
    """What is said of the original; nothing where its file is a cluster."""
    try:
        made = imported(original, choices)
    except ConfigError as error:
        found = [problem for each in error.problems.values() for problem in each]
        return found if len(str(error).splitlines()) == len(found) > 0 else [Problem((), str(error), "has other lines")]
    return [*made.problems] if made.config is None else []


@settings(max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    changed_documents(ON_EKS),
    st.sampled_from(Keep),
    st.sampled_from(["vpc-0123456789abcdef0"] * 5 + [None]),
)
def test_a_changed_original_on_eks_gives_a_file_or_problems(request: Json, keep: Keep, vpc: str | None) -> None:
    found = problems_of(Original(request, None), Choices(keep=keep, zone="use2-az2", vpc_id=vpc))
    assert all(problem.fix for problem in found), found
