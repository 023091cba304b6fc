"""Whatever is wrong with an original is said with the file, the path in it, the value and the remedy."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.import_cluster import Choices, Keep, imported, read_original
from cli.import_cluster.json_file import read_json
from config.errors import ConfigError
from tests.unit.cli.import_cluster.originals import PARAMETERS, REQUEST, changed, import_of

KEPT = Choices(keep=Keep.EVERYTHING, vpc_id="vpc-0123456789abcdef0", zone="usw2-az4")
WORK = ("InstanceGroups", 2)


def lines(request: Any = REQUEST, parameters: Any = PARAMETERS, choices: Choices | None = None) -> list[str]:
    """What is said of the request and the parameters."""
    with pytest.raises(ConfigError) as told:
        import_of(request, choices, parameters)
    return str(told.value).splitlines()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ((*WORK, "InstanceCount"), "4", 'InstanceGroups[2].InstanceCount: "4": must be a whole number; write 4, without quotes'),
        (
            (*WORK, "LifeCycleConfig", "OnCreate"),
            "setup.sh",
            'InstanceGroups[2].LifeCycleConfig.OnCreate: "setup.sh": is not one of our scripts; '
            "pass the folder of the original's scripts with --scripts, or use our on_create.sh",
        ),
        (
            (*WORK, "LifeCycleConfig", "OnInitComplete"),
            "done.sh",
            'InstanceGroups[2].LifeCycleConfig.OnInitComplete: "done.sh": is not one of our scripts; '
            "pass the folder of the original's scripts with --scripts, or use our on_create.sh",
        ),
        (
            (*WORK, "InstanceGroupName"),
            "others",
            'InstanceGroups[2].InstanceGroupName: "others": provisioning_parameters.json has no role for it; '
            "add it to worker_groups",
        ),
        (
            ("Tags",),
            [{"Key": "team", "Value": "a"}, {"Key": "team", "Value": "b"}],
            'Tags[1].Key: "team": duplicate tag key; remove one',
        ),
        (("InstanceGroups",), [], "InstanceGroups: []: has no group; add a controller group"),
        (("InstanceGroups", 0), "head", 'InstanceGroups[0]: "head": must be a mapping; the members are InstanceCount, '),
    ],
)
def test_problems_of_the_request_have_their_path(path: tuple[Any, ...], value: object, said: str) -> None:
    parameters = changed(PARAMETERS, "worker_groups", [{"instance_group_name": "work", "partition_name": "dev"}])
    if value == "others":
        parameters["worker_groups"] = []
    assert any(line.startswith(f"create_cluster.json: {said}") for line in lines(changed(REQUEST, *path, value), parameters))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("login_group",),
            "my-login-group",
            'login_group: "my-login-group": login_group my-login-group is not an instance group; '
            "use door; or leave it out with --drop-unknown-groups",
        ),
        (
            ("controller_group",),
            "haed",
            'controller_group: "haed": controller_group haed is not an instance group; did you mean head?',
        ),
        (
            ("worker_groups", 0, "instance_group_name"),
            "works",
            'worker_groups[0].instance_group_name: "works": instance_group_name works is not an instance group; '
            "did you mean work?; or leave it out with --drop-unknown-groups",
        ),
        (("worker_groups", 0, "instance_group_name"), "head", 'worker_groups[0].instance_group_name: "head": is controller'),
        (
            ("worker_groups", 0, "partition_name"),
            "a b",
            'worker_groups[0].partition_name: "a b": must be 1-63 letters, digits, dots, hyphens or underscores, '
            "and start with a letter or digit; rename the partition",
        ),
        (("worker_groups", 0, "partition_name"), None, "worker_groups[0].partition_name: null: must be text; add it"),
        (("worker_groups", 0), "work", "worker_groups[0].instance_group_name: must be text; add it"),
        (("worker_groups",), "work", 'worker_groups: "work": must be a list; write [{instance_group_name, partition_name}]'),
        (("controller_group",), "", "controller_group: is required; add the name of the group that runs slurmctld"),
        (("controller_group",), ["head"], 'controller_group: ["head"]: must be text; quote it'),
        (("workload_manager",), "pbs", 'workload_manager: "pbs": must be slurm; no other is supported'),
        (("fsx_openzfs_dns",), "x", 'fsx_openzfs_dns: "x": is not a provisioning parameter; did you mean fsx_openzfs_dns_name'),
        (("fsx_mountname",), 7, "fsx_mountname: 7: must be text; quote it"),
        (("slurm_configurations",), [], "slurm_configurations: []: must be an object with texts; quote its values"),
        (("slurm_configurations",), {"slurm_sns_arn": 7}, "slurm_configurations: {"),
    ],
)
def test_problems_of_the_parameters_have_their_path(path: tuple[Any, ...], value: object, said: str) -> None:
    told = lines(parameters=changed(PARAMETERS, *path, value))
    assert any(line.startswith(f"provisioning_parameters.json: {said}") for line in told), told


def test_several_mistakes_are_reported_at_once() -> None:
    request = changed(changed(REQUEST, *WORK, "InstanceCount", "4"), "InstanceGroups", 0, "ThreadsPerCore", 3)
    assert len(lines(request, changed(PARAMETERS, "workload_manager", "pbs"))) == 3


def test_a_controller_group_that_is_none_is_never_dropped() -> None:
    parameters = changed(PARAMETERS, "controller_group", "boss")
    [line] = lines(parameters=parameters, choices=Choices(drop_unknown_groups=True))
    assert "controller_group boss is not an instance group" in line


def test_groups_without_any_role_ask_for_the_parameters() -> None:
    [line] = lines(parameters=None)
    assert line.endswith(
        "Orchestrator: unknown orchestrator; for EKS, add Eks.ClusterArn; for Slurm, also pass provisioning_parameters.json"
    )


def test_a_placeholder_is_no_misspelled_value(tmp_path: Path) -> None:
    path = tmp_path / "create_cluster.json"
    path.write_text(json.dumps({**REQUEST, "ClusterName": "${CLUSTER_NAME}"}))
    with pytest.raises(ConfigError) as told:
        imported(read_original(path), Choices())
    assert '"${CLUSTER_NAME}": ${CLUSTER_NAME} is a placeholder; replace it with its value' in str(told.value)
    assert "did you mean" not in str(told.value)


def test_what_the_deployment_decides_is_not_looked_at_unless_it_is_kept() -> None:
    request = changed(changed(REQUEST, *WORK, "ExecutionRole", "${ROLE}"), "VpcConfig", {"Subnets": ["$SUBNET_ID"]})
    request = changed(request, *WORK, "LifeCycleConfig", "SourceS3Uri", "${BUCKET}/src")
    assert import_of(request).problems == ()
    told = lines(request, choices=KEPT)
    for name in ("ExecutionRole", "SecurityGroupIds", "Subnets", "SourceS3Uri"):
        assert any(name in line for line in told)


def test_a_network_that_is_kept_needs_its_vpc_and_zone() -> None:
    [line] = lines(choices=Choices(keep=Keep.NETWORK, zone="usw2-az4"))
    assert line.startswith("create_cluster.json: VpcConfig: ")
    assert line.endswith("does not contain the VPC of these subnets; pass --vpc and --zone")
    [line] = lines(choices=Choices(keep=Keep.NETWORK, vpc_id="vpc-0123456789abcdef0"))
    assert line.endswith("pass --zone with its id (usw2-az1, usw2-az2, usw2-az3 or usw2-az4)")


def test_a_cluster_of_which_nothing_says_the_region_asks_for_the_zone() -> None:
    parameters = {name: value for name, value in PARAMETERS.items() if not name.startswith("fsx")}
    [line] = lines(parameters=parameters)
    assert line.endswith("unknown zone; pass --zone with its id (e.g. --zone usw2-az4)")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("fsx_dns_name", "10.0.0.7", 'fsx_dns_name: "10.0.0.7": does not begin with a file system id; enter e.g. fs-'),
        ("fsx_mountname", "", "fsx_mountname: a file system requires its DNS name and its mount name; add it"),
        ("fsx_mountname", "/fsx", 'fsx_mountname: "/fsx": must be 1-8 '),
        ("fsx_openzfs_dns_name", "0", 'fsx_openzfs_dns_name: "0": must be a DNS name like fs-'),
    ],
)
def test_a_file_system_that_is_kept_needs_its_id_and_mount_name(name: str, value: str, said: str) -> None:
    [line] = lines(parameters=changed(PARAMETERS, name, value), choices=KEPT)
    assert line.startswith(f"provisioning_parameters.json: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', ':1:10: an object has "a" twice; write it as JSON without duplicate keys'),
        (
            '{\n"partition_name": ${instance_type}\n}',
            ':2:19: "\\"partition_name\\": ${instance_type}": is not JSON: Expecting value; '
            "replace the shell variable with its value",
        ),
        (
            '{\n\u00a0 "ClusterName": "a"}',
            ':2:1: "\\"ClusterName\\": \\"a\\"}": is not JSON: Expecting property name enclosed in double quotes; '
            "replace the characters U+00A0, often copied from web pages, with spaces",
        ),
        ("{", ':1:2: "{": is not JSON: Expecting property name enclosed in double quotes; write it as JSON'),
        ('{"b": [1,\n -Infinity], "a": 1}', ":2:2: -Infinity is not a JSON number; write it as JSON without duplicate keys"),
        ('{"a": NaN, "b": }', ": NaN is not a JSON number; write it as JSON without duplicate keys"),
        ("[NaN]", ":1:2: NaN is not a JSON number; write it as JSON without duplicate keys"),
        pytest.param("[" * 100_000, ": is nested too deeply; write it as JSON", id="deep"),
        ("7", ":1:1: 7: is not CreateCluster's input, or the list of its instance groups; pass a file with a JSON object"),
        (
            '{"ClusterName": "theirs", "ClusterStatus": "InService"}',
            ':1:27: ClusterStatus: "InService": this is the output of DescribeCluster; '
            "pass CreateCluster's input, or --from-cluster with the cluster's name",
        ),
        (
            '{"controller_group": "head"}',
            ':1:2: controller_group: "head": these are provisioning parameters; pass them second, after CreateCluster\'s input',
        ),
        ("\udcff", ": is not UTF-8 text; write it as JSON"),
    ],
)
def test_a_file_with_other_json_is_reported(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "create_cluster.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as told:
        read_original(file)
    assert str(told.value) == f"{file}{said}"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'"none\.json": cannot be read: No such file or directory; check its name'):
        read_original(tmp_path / "none.json")


def test_a_network_that_is_given_twice_must_be_the_same(tmp_path: Path) -> None:
    request, network = tmp_path / "create_cluster.json", tmp_path / "vpc-config.json"
    request.write_text('{"InstanceGroups": [], "VpcConfig": {"Subnets": ["subnet-1"]}}')
    network.write_text('{"Subnets": ["subnet-2"]}')
    with pytest.raises(
        ConfigError, match=r"create_cluster.json:1:24: VpcConfig: .* differs from .*vpc-config\.json; pass it once"
    ):
        read_original(request, vpc_config=network)


def saved(folder: Path, **contents: object) -> dict[str, Path]:
    """A file for each of the contents, indented by one, which makes places easy to count."""
    paths = {name: folder / f"{name}.json" for name in contents}
    for name, content in contents.items():
        paths[name].write_text(json.dumps(content, indent=1))
    return paths


KINDS = {
    "request": REQUEST,
    "groups": REQUEST["InstanceGroups"],
    "parameters": PARAMETERS,
    "network": REQUEST["VpcConfig"],
    "described": {"ClusterArn": "arn", "ClusterStatus": "InService", "InstanceGroups": []},
    "listed": {"ClusterSummaries": []},
    "written": {"ClusterConfig": {"ClusterName": "theirs"}, "InstanceGroups": []},
    "template": {"Resources": {}},
    "resource": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": REQUEST["InstanceGroups"]}},
    "stack_parameters": [{"ParameterKey": "AvailabilityZoneId", "ParameterValue": "usw2-az2"}] * 30,
    "group": REQUEST["InstanceGroups"][0],
}
FIRST, SECOND, LAST = (
    f"; pass {what}" for what in ("it first, and prov", "them second, after CreateCluster's", "it last, after Create")
)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("parameters", "request"), f"parameters.json:4:2: controller_group: .*: these are provisioning parameters{SECOND}"),
        (("network", "parameters"), f"network.json:5:2: Subnets: .*: this is a VpcConfig{LAST}"),
        (("request", "request"), f"request.json:3:2: InstanceGroups: .*: this is CreateCluster's input{FIRST}"),
        (("request", "groups"), f"groups.json:1:1: this is a list of instance groups{FIRST}"),
        (("request", "parameters", "parameters"), f"parameters.json:4:2: .*{SECOND}"),
        (("request", "parameters", "request"), f"request.json:3:2: .*{FIRST}"),
        (
            ("described",),
            "described.json:3:2: ClusterStatus: .* DescribeCluster; pass CreateCluster's input, or --from-cluster",
        ),
        (("listed",), "listed.json:2:2: ClusterSummaries: .* ListClusters; pass --from-cluster with a name"),
        (
            ("written", "parameters"),
            "written.json:2:2: ClusterConfig: .* on nodes; pass CreateCluster's input, or --from-cluster",
        ),
        (("resource",), "resource.json:3:2: Properties: .*: this is a CloudFormation resource; pass its Properties"),
        (("stack_parameters",), "stack_parameters.json:1:1: these are parameters of a CloudFormation stack; pass CreateCluster"),
        (("group",), "group.json:2:2: InstanceGroupName: .*: this is one instance group; put it in a list"),
        (("template",), "template.json:2:2: Resources: .* CloudFormation template; pass CreateCluster's input"),
    ],
)
def test_a_file_of_another_kind_is_reported_with_its_likely_kind(tmp_path: Path, given: tuple[str, ...], said: str) -> None:
    paths = saved(tmp_path, **KINDS)
    with pytest.raises(ConfigError, match=said):
        read_original(*(paths[name] for name in given))


def test_a_network_can_be_given_where_there_are_no_parameters(tmp_path: Path) -> None:
    paths = saved(tmp_path, **KINDS)
    original = read_original(paths["groups"], paths["network"])
    assert (original.request["VpcConfig"], original.parameters) == (REQUEST["VpcConfig"], None)


def test_a_cluster_file_needs_no_import(tmp_path: Path) -> None:
    (tmp_path / "input.yaml").write_text("ClusterName: ml\nInstanceGroups: []\n")
    with pytest.raises(ConfigError, match=r"; this is the file of `--cli-input-yaml`: write the same members as JSON, or pass "):
        read_original(tmp_path / "input.yaml")
    (tmp_path / "mine.yaml").write_text("region: us-west-2\n")
    with pytest.raises(ConfigError, match=r"is not JSON: .*; this is a cluster file: `./hpod validate .*mine.yaml`"):
        read_original(tmp_path / "mine.yaml")


@pytest.mark.parametrize("first", ["AWSTemplateFormatVersion: 2010-09-09", "# ours\nResources:"])
def test_a_template_in_yaml_is_no_cluster_file(tmp_path: Path, first: str) -> None:
    (tmp_path / "stack.yaml").write_text(f"{first}\n")
    with pytest.raises(ConfigError, match=r"is not JSON: .*; this is a CloudFormation template: pass CreateCluster's input"):
        read_original(tmp_path / "stack.yaml")


@pytest.mark.parametrize(
    ("request_content", "parameters", "said"),
    [
        (changed(REQUEST, *WORK, "InstanceCount", "4"), PARAMETERS, "request.json:29:4: InstanceGroups[2].InstanceCount: "),
        (changed(REQUEST, *WORK, "InstanceCount", "4")["InstanceGroups"], PARAMETERS, "request.json:27:3: InstanceGroups[2]."),
        (REQUEST, changed(PARAMETERS, "worker_groups", 0, "partition_name", "a b"), "parameters.json:9:4: worker_groups[0]."),
        (REQUEST, {"login_group": "door"}, "parameters.json:1:1: controller_group: is required"),
        (changed(REQUEST, "Tags", [{"Key": "a", "Value": "b"}] * 2), PARAMETERS, "request.json:52:4: Tags[1].Key: "),
    ],
)
def test_problems_have_line_and_column(tmp_path: Path, request_content: Any, parameters: Any, said: str) -> None:
    paths = saved(tmp_path, request=request_content, parameters=parameters)
    with pytest.raises(ConfigError) as told:
        imported(read_original(paths["request"], paths["parameters"]), Choices())
    assert str(told.value).startswith(str(tmp_path / said)), told.value


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"Subnets": 7}, "network.json:2:2: VpcConfig.Subnets: 7: "),
        ({"VpcConfig": {"Subnets": 7}}, "network.json:3:3: VpcConfig.Subnets: 7: "),
        ({"Subnets": ["subnet-01234567"]}, "network.json:1:1: VpcConfig.SecurityGroupIds: "),
    ],
)
def test_a_problem_in_a_third_file_has_its_place_there(tmp_path: Path, network: object, said: str) -> None:
    paths = saved(tmp_path, request=REQUEST["InstanceGroups"], parameters=PARAMETERS, network=network)
    with pytest.raises(ConfigError) as told:
        imported(read_original(*paths.values()), KEPT)
    assert str(tmp_path / said) in str(told.value)


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    file.write_text(f'{{"ClusterName": "{"a" * 2**21}"}}')
    with pytest.raises(ConfigError, match=r'"large\.json": cannot be read: larger than 1,024 KiB'):
        read_json(file)
