"""The account of the HyperPod tests with an EKS cluster `ml`, whose control plane is a fake."""

from typing import Any

from local_aws.eks import control_planes
from local_aws.eks.control_planes import Request
from tests.simulator.eks.fake_server import FakeServer
from tests.simulator.eks.world import FakePrograms, trust
from tests.simulator.hyperpod.world import REGION, World, until

ACCOUNT = "123456789012"
SERVICE_ROLE = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/hyperpod.sagemaker.amazonaws.com/AWSServiceRoleForSageMakerHyperPod"


class EksSite:
    """An account with an EKS cluster, and requests for HyperPod clusters on it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.programs = FakePrograms()

    def use_fakes(self) -> None:
        """Let EKS start fakes of control planes."""
        control_planes.use(self.programs.programs())

    @property
    def server(self) -> FakeServer:
        """The API server of the EKS cluster."""
        return self.programs.planes[-1].server

    def install(self) -> None:
        """Install what HyperPod needs in the EKS cluster."""
        namespace = "/api/v1/namespaces/aws-hyperpod"
        self.server.put(namespace)
        for account in ("health-monitoring-agent", "deep-health-check-service-account"):
            self.server.put(f"{namespace}/serviceaccounts/{account}")
        self.server.put("/apis/apps/v1/namespaces/aws-hyperpod/daemonsets/health-monitoring-agent")

    def kube_nodes(self) -> dict[str, dict[str, Any]]:
        """The nodes in Kubernetes by name."""
        listed = self.server.call(Request("GET", "/api/v1/nodes"))[1]["items"]
        return {node["metadata"]["name"]: node for node in listed}

    def labels(self, short: str) -> list[str]:
        """The values of one of HyperPod's labels, in order; missing ones are empty."""
        nodes = self.kube_nodes().values()
        return sorted(node["metadata"]["labels"].get(f"sagemaker.amazonaws.com/{short}", "") for node in nodes)

    def until_labels(self, short: str, *values: str) -> None:
        until(lambda: self.labels(short), lambda seen: seen == sorted(values))

    @property
    def eks(self) -> Any:
        return self.world.client("eks")

    def make(self) -> None:
        """Make what an EKS cluster needs besides HyperPod's VPC, once per account."""
        if "control" not in self.world.ids:
            zone = {"CidrBlock": "10.1.1.0/28", "AvailabilityZone": f"{REGION}b"}
            made = self.world.ec2.create_subnet(VpcId=self.world.ids["vpc"], **zone)["Subnet"]
            self.world.ids["control"] = made["SubnetId"]
            self.world.client("iam").create_role(RoleName="eks", AssumeRolePolicyDocument=trust("eks.amazonaws.com"))

    def request(self, name: str = "ml") -> dict[str, Any]:
        """A request for an EKS cluster in HyperPod's VPC."""
        vpc = {"subnetIds": [self.world.ids["subnet"], self.world.ids["control"]]}
        access = {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}
        role = f"arn:aws:iam::{ACCOUNT}:role/eks"
        return {"name": name, "version": "1.34", "roleArn": role, "resourcesVpcConfig": vpc, "accessConfig": access}

    def create(self, name: str = "ml") -> str:
        """Create an EKS cluster; its ARN, once it is ACTIVE."""
        self.eks.create_cluster(**self.request(name))
        found = until(lambda: self.eks.describe_cluster(name=name)["cluster"], lambda found: found["status"] == "ACTIVE", 120)
        return str(found["arn"])

    def settings(self, name: str = "ml", **more: Any) -> dict[str, Any]:
        """Settings of CreateCluster for a HyperPod cluster on the EKS cluster."""
        arn = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{name}"
        return {"Orchestrator": {"Eks": {"ClusterArn": arn}}, **more}

    def autoscaling_role(self) -> str:
        """A role that HyperPod's autoscaler can assume; its ARN."""
        iam, document = self.world.client("iam"), trust("hyperpod.sagemaker.amazonaws.com")
        if not any(role["RoleName"] == "autoscaling" for role in iam.list_roles()["Roles"]):
            iam.create_role(RoleName="autoscaling", AssumeRolePolicyDocument=document)
        return f"arn:aws:iam::{ACCOUNT}:role/autoscaling"

    def entries(self, name: str = "ml") -> dict[str, dict[str, Any]]:
        """The access entries of an EKS cluster by the principal's ARN."""
        arns = self.eks.list_access_entries(clusterName=name)["accessEntries"]
        found = {arn: self.eks.describe_access_entry(clusterName=name, principalArn=arn)["accessEntry"] for arn in arns}
        return {arn: dict(entry) for arn, entry in found.items()}

    def forget_service_role(self) -> None:
        """Delete HyperPod's service-linked role, as if no cluster had ever been created."""
        iam = self.world.client("iam")
        if any(role["Arn"] == SERVICE_ROLE for role in iam.list_roles()["Roles"]):
            iam.delete_service_linked_role(RoleName=SERVICE_ROLE.rsplit("/", 1)[-1])
