from typing import Any

import pytest

from config.instance_types import accelerator, instance_type, is_plausible_type, listed_types
from tests.unit.cluster_request.request_leaves import holding
from tests.unit.validation.override_drafts import EXISTING
from validation.checked_file import check_source

WORK = ("instance_groups", 2)
NEW = "ml.p9.48xlarge"


def rules(draft: Any) -> list[str]:
    return [problem.rule for problem in draft.problems()]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            NEW,
            "unknown instance type: addresses, threads, accelerators and EFA are not checked, and Slurm does not know its GPUs "
            "and sockets; did you mean ml.p",
        ),
        ("ml.p6e-gb200.36xlarge", "properties of this type are unknown: "),
    ],
)
def test_a_type_newer_than_this_release_makes_a_cluster_with_a_warning_of_the_skipped_checks(
    draft: Any, name: str, said: str
) -> None:
    [problem] = draft.set(*WORK, "instance_type", name).problems()
    assert (problem.rule, problem.level) == ("known-instance-type", "warning")
    assert f"{problem.message}; {problem.fix}".startswith(said)
    assert draft.config().instance_groups[2].instance_type == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (NEW, "pods get NVIDIA GPUs, as its family has them, and no EFA without `overrides.NetworkInterface`"),
        ("ml.p6e-gb200.36xlarge", "pods get NVIDIA GPUs, as its family has them, and EFA"),
        ("ml.trn9.48xlarge", "pods get Neuron devices, as its family has them, and no EFA "),
        ("ml.x9.48xlarge", "pods get no GPUs or Neuron devices, and no EFA "),
    ],
)
def test_on_eks_the_warning_names_the_devices_that_pods_get(eks_draft: Any, name: str, said: str) -> None:
    eks_draft.set("instance_groups", 1, "instance_type", name)
    [problem] = [each for each in eks_draft.problems() if each.rule == "known-instance-type"]
    assert f"accelerators and EFA are not checked, and {said}" in problem.message
    assert "Slurm" not in problem.message


def test_the_warning_can_be_suppressed(draft: Any) -> None:
    draft.set(*WORK, "instance_type", NEW).set(
        "suppress", [{"rule": "known-instance-type", "reason": "HyperPod has it since May"}]
    )
    assert [problem.suppressed for problem in draft.problems()] == ["HyperPod has it since May"]
    assert check_source(draft.text(), "draft", draft.folder).warnings == []


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("request.choice", ["ml.p5.48xlrge", "ml.p5.xxlarge", "ml.p.48xlarge", "ml.p5.large2", "ml.p5.048xlarge"]),
        ("known-instance-type", ["ml.trn1.16xlarge", "ml.p9.84xlarge"]),  # a size of others, and a family that nothing has
    ],
)
def test_an_implausible_type_is_an_error(draft: Any, rule: str, names: list[str]) -> None:
    for name in names:
        assert rules(draft.set(*WORK, "instance_type", name)) == [rule]


@pytest.mark.parametrize(
    ("name", "near"), [("ml.trn1.23xlarge", "ml.trn1.32xlarge"), ("ml.p5.84xlarge", "ml.p5.48xlarge"), ("ml.m5.nano", "ml.m5.")]
)
def test_a_size_that_nothing_has_is_a_mistake_in_a_known_family(draft: Any, name: str, near: str) -> None:
    [problem] = draft.set(*WORK, "instance_type", name).problems()
    assert (problem.rule, problem.level) == ("request.choice", "error")
    assert near in problem.fix


def test_every_type_that_there_is_has_a_name_as_types_have(draft: Any) -> None:
    assert [name for name in listed_types() if not is_plausible_type(name)] == []


RESTRICTED = holding(("RestrictedInstanceGroups", 0, "InstanceType"))["RestrictedInstanceGroups"][0]


@pytest.mark.parametrize(
    ("above", "overrides", "path"),
    [
        (WORK, {"InstanceType": NEW}, ("InstanceType",)),
        (
            WORK,
            {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", NEW]}},
            ("InstanceRequirements", "InstanceTypes", 1),
        ),
        ((), {"RestrictedInstanceGroups": [RESTRICTED | {"InstanceType": NEW}]}, ("RestrictedInstanceGroups", 0, "InstanceType")),
    ],
)
def test_the_warning_is_where_the_type_is_named(draft: Any, above: Any, overrides: Any, path: Any) -> None:
    found = draft.set(*above, "overrides", overrides).problems()
    assert [problem.path for problem in found if problem.rule == "known-instance-type"] == [(*above, "overrides", *path)]


@pytest.mark.parametrize("field", [("threads_per_core",), ("overrides", "ThreadsPerCore")])
def test_a_core_with_one_thread_has_no_second(draft: Any, field: tuple[str, ...]) -> None:
    draft.set(*WORK, "instance_type", "ml.m7g.xlarge")
    assert draft.problems() == []
    path = ".".join(("instance_groups[2]", *field))
    assert draft.set(*WORK, *field, 2).lines() == [f"{path}: 2: ml.m7g.xlarge has only one thread per core; set 1"]


@pytest.mark.parametrize(
    ("types", "said"),
    [
        (["ml.p5.48xlarge"], []),
        (["ml.p5e.48xlarge", "ml.p5en.48xlarge"], []),
        (["ml.p5.48xlarge", NEW], []),
        (["ml.p5.48xlarge", "ml.trn1.32xlarge"], ["types differ in accelerators (8 h100, 16 trainium)"]),
        (["ml.c5.xlarge", "ml.c6g.xlarge"], ["types differ in architecture (x86_64, arm64)"]),
        (
            ["ml.g5.xlarge", "ml.g5.8xlarge", "ml.c5.xlarge"],
            ["types differ in accelerators (1 a10g, none) and in EFA (none, some)"],
        ),
    ],
)
def test_types_of_one_group_are_alike(draft: Any, types: list[str], said: list[str]) -> None:
    draft.set(*WORK, "overrides", {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": types}})
    told = [problem.message for problem in draft.problems() if problem.rule == "mixed-instance-types"]
    assert told == said


@pytest.mark.parametrize(
    ("name", "found"), [("ml.p5.48xlarge", []), (NEW, ["known-instance-type"]), ("ml.c5.xlarge", ["efa-file-system"])]
)
def test_a_file_system_with_efa_is_for_types_that_have_it(draft: Any, name: str, found: list[str]) -> None:
    draft.set("storage", {"existing": {"file_system_id": "fs-01234567", "mount_name": "fsx", "efa": True}})
    assert rules(draft.set(*WORK, "instance_type", name)) == found


@pytest.mark.parametrize(("name", "found"), [("ml.p5.48xlarge", ["efa-single-zone"]), ("ml.c5.xlarge", [])])
def test_efa_does_not_reach_from_zone_to_zone(draft: Any, name: str, found: list[str]) -> None:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    draft.set(*WORK, "overrides", "OverrideVpcConfig", {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": subnets})
    draft.set("network", "existing", EXISTING)
    assert rules(draft.set(*WORK, "instance_type", name)) == found


def test_efa_is_asked_of_types_that_have_it(draft: Any) -> None:
    draft.set(*WORK, "overrides", "NetworkInterface", {"InterfaceType": "efa"})
    assert draft.problems() == []
    assert rules(draft.set(*WORK, "instance_type", "ml.c5.xlarge")) == ["efa-interface-type"]


@pytest.mark.parametrize(("name", "accelerated"), [("ml.gr6.4xlarge", True), ("ml.trn2.48xlarge", True), ("ml.c5.xlarge", False)])
def test_types_with_gpus_or_neuron_devices_are_accelerated(name: str, *, accelerated: bool) -> None:
    assert instance_type(name) is not None
    assert (accelerator(name) is not None) is accelerated


@pytest.mark.parametrize("name", ["ml.p9.48xlarge", "ml.r9i.xlarge", "ml.x9.48xlarge", "ml.p6e-gb200.36xlarge"])
def test_no_rule_reports_missing_properties_of_an_unknown_type(draft: Any, name: str) -> None:
    draft.set(*WORK, "instance_type", name).set(*WORK, "deep_health_checks", ["InstanceStress"]).set("wait_hours", 3)
    plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"
    draft.set(*WORK, "overrides", {"TrainingPlanArn": plan})
    assert [problem.rule for problem in draft.problems()] == ["known-instance-type"]


G5 = "ml.g5.xlarge"
OWN = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"


@pytest.mark.parametrize(
    ("zone", "types", "more", "fixes"),
    [
        ("usw2-az4", [G5], {}, ["to usw2-az1, usw2-az2 or usw2-az3, or use another type"]),
        ("usw2-az2", [G5], {}, []),
        ("usw2-az4", [G5, "ml.g6.xlarge"], {}, []),
        (
            "usw2-az1",
            ["ml.trn1n.32xlarge", "ml.p5e.48xlarge"],
            {},
            ["to usw2-az4, or use another", "to usw2-az3, or use another"],
        ),
        ("usw2-az4", [G5], {"OverrideVpcConfig": OWN}, []),
        ("usw2-az4", [G5], {"TrainingPlanArn": PLAN}, []),
        ("usw2-az9", [G5], {}, []),
        ("use1-az3", [G5], {}, []),  # zone-region reports another region's zone
        ("euw3-az1", ["ml.p4d.24xlarge"], {}, ["use another type or region"]),
    ],
)
def test_a_type_that_the_zone_does_not_offer_is_a_warning(draft: Any, zone: str, types: Any, more: Any, fixes: Any) -> None:
    chosen = {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": types}} if types[1:] else {"InstanceType": types[0]}
    draft.set("region", "eu-west-3" if zone == "euw3-az1" else "us-west-2").set("network", "availability_zone_id", zone)
    draft.set(*WORK, "overrides", {**chosen, **more})
    found = [problem for problem in draft.problems() if problem.rule == "type-in-zone"]
    assert [problem.value for problem in found] == types[: len(fixes)]
    assert all(fix in problem.fix for fix, problem in zip(fixes, found, strict=True))
