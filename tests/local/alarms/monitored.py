"""The monitoring stack of the reference cluster, with stacks that have only the outputs that it reads."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from config.model import ClusterConfig
from config.operation_names import node_log_group
from local_aws.testing import ACCOUNT, REGION, Client
from stacks.cluster_stage import ClusterStage
from tests import cluster_files
from validation.load import check_clusters, usable

NAME = "reference"
CLUSTER_ID = "abcdefghijkl"
ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/{CLUSTER_ID}"
HYPERPOD_LOGS = f"/aws/sagemaker/Clusters/{NAME}-0123456789ab/{CLUSTER_ID}"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:{NAME}-monitoring"
EMAIL = "operators@example.com"
STACK = f"{NAME}-Monitoring"


def config(**monitoring: Any) -> ClusterConfig:
    """Return the reference cluster with other settings of its monitoring."""
    [parsed] = usable(check_clusters(cluster_files.CLUSTERS, NAME))
    settings = parsed.monitoring.model_copy(update={"emails": (EMAIL,), **monitoring})
    return parsed.model_copy(update={"monitoring": settings})


def template(outdir: Path, **monitoring: Any) -> str:
    """Return the template of the reference cluster's monitoring stack."""
    return template_of(config(**monitoring), outdir)


def template_of(config: ClusterConfig, outdir: Path) -> str:
    """Return the template of a cluster's monitoring stack."""
    app = cdk.App(outdir=str(outdir), analytics_reporting=False)
    ClusterStage(app, config=config, environment=cdk.Environment(account=ACCOUNT, region=REGION))
    app.synth()
    [file] = outdir.glob("assembly-*/*Monitoring*.template.json")
    return file.read_text()


def create_file_system(client: Client) -> str:
    """Create a file system as that of the reference cluster, and return its ID."""
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(VpcId=vpc, GroupName="files", Description="files")["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
    lustre = config().storage.lustre
    assert lustre
    created = client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion=lustre.version,
        StorageType="SSD",
        StorageCapacity=lustre.storage_capacity_gib,
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        LustreConfiguration={
            "DeploymentType": lustre.deployment_type.value,
            "PerUnitStorageThroughput": lustre.throughput_mbps_per_tib,
        },
    )
    return str(created["FileSystem"]["FileSystemId"])


def deploy_others(client: Client, file_system: str, template: str) -> None:
    """Deploy what the stack of the template needs: outputs of other stacks, and the log group of the nodes' reports."""
    bootstrap(client)
    reports = {"Reports": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": node_log_group(NAME)}}}
    ids = {"ClusterName": HYPERPOD_LOGS.split("/")[-2], "ClusterArn": ARN, "ClusterId": CLUSTER_ID}
    deploy(client, f"{NAME}-Cluster", {"Resources": reports, "Outputs": outputs(ids)})
    resources = json.loads(template)["Resources"]
    [alarm] = [each["Properties"] for name, each in resources.items() if "FileSystemSpaceLow" in name]
    output = alarm["Dimensions"][0]["Value"]["Fn::GetStackOutput"]
    placeholder = {"Placeholder": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}
    deploy(client, f"{NAME}-Storage", {"Resources": placeholder, "Outputs": outputs({output["OutputName"]: file_system})})


def bootstrap(client: Client) -> None:
    """Set the version of the bootstrap stack, which templates require."""
    client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String")


def deploy(client: Client, stack: str, template: str | dict[str, Any]) -> str:
    """Create the stack, and return its status."""
    cloudformation = client("cloudformation")
    text = template if isinstance(template, str) else json.dumps(template)
    cloudformation.create_stack(StackName=stack, TemplateBody=text, Capabilities=["CAPABILITY_IAM"])
    while (status := cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]).endswith("_IN_PROGRESS"):
        pass
    return str(status)


def outputs(values: dict[str, str]) -> dict[str, Any]:
    """Return the outputs of a template."""
    return {name: {"Value": value} for name, value in values.items()}
