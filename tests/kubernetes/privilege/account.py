"""The account of a deployed EKS file, with the roles of its step functions."""

from copy import deepcopy
from typing import Any

from local_aws import faults
from local_aws.testing import Client, ask
from tests.privilege.account import NODES, Deployed, PartFailedError
from tests.privilege.cloudformation import CustomResource, Json
from tests.privilege.deployment import Deployment
from tests.privilege.rights import Right, rights_of

CLUSTER, OBJECTS, QUOTAS = "Cluster", "Objects", "Quotas"
SERVICES = {
    CLUSTER: ("eks:",),
    OBJECTS: ("eks:",),
    QUOTAS: ("eks:", "sagemaker:"),
}
"""The services whose actions only an EKS file needs, by the custom resource whose step function calls them."""
NODE_STATEMENTS = ("AssignPodAddresses", "AssumePodRoles", "DescribeNode", "PullImages", "ReadAlarms")
"""The statements of the node role that only an EKS file needs."""


class EksAccount(Deployed):
    """The account with an EKS cluster, a HyperPod cluster on it, and quotas of a team."""

    def __init__(self, client: Client, deployment: Deployment) -> None:
        super().__init__(client)
        self.objects = CustomResource(client, "Custom::HyperPodDependencies")
        self.addon_health = CustomResource(client, "Custom::HyperPodAddonHealth")
        self.quotas = CustomResource(client, "Custom::HyperPodComputeQuotas")
        self._roles = {
            CLUSTER: deployment.only("ClusterProviderStepAccess", "::Role"),
            OBJECTS: deployment.only("DependenciesProviderStepAccess", "::Role", "Kubernetes"),
            QUOTAS: deployment.only("QuotasProviderStepAccess", "::Role", "Addons"),
        }
        self._node_role = deployment.only("NodeRole", "::Role")

    def rights(self) -> list[Right]:
        """Return the rights that only an EKS file needs; tests/privilege covers the others."""
        iam = self.client("iam")
        steps = [right for holder, role in self._roles.items() for right in rights_of(iam, holder, role)]
        nodes = [right for right in rights_of(iam, NODES, self._node_role) if right.sid in NODE_STATEMENTS]
        return [*(right for right in steps if right.action.startswith(SERVICES[right.holder])), *nodes]

    def begin(self, *, with_cluster: bool) -> None:
        faults.reset()
        self.end_what_runs()
        self._remove_quotas()
        if not with_cluster:
            self.remove_cluster()
        elif self.status() != "InService":
            self.remove_cluster()
            self.done(self.cluster.create())
        for record in ("iam", "invocations"):
            ask(record, "DELETE")

    def check(self) -> None:
        """Fail if a function raised an error."""
        errors = [run["error"] for run in ask("invocations") if run["error"]]
        if errors:
            raise PartFailedError(f"errors of functions: {errors}")

    def quota_properties(self) -> Json:
        """Return the properties of the quotas for the present cluster."""
        [cluster] = self.client("sagemaker").list_clusters()["ClusterSummaries"]
        return {**deepcopy(self.quotas.properties), "ClusterArn": cluster["ClusterArn"]}

    def quota_items(self) -> list[Any]:
        """Return the quotas and the scheduler config."""
        sagemaker = self.client("sagemaker")
        quotas = sagemaker.list_compute_quotas()["ComputeQuotaSummaries"]
        return [*quotas, *sagemaker.list_cluster_scheduler_configs()["ClusterSchedulerConfigSummaries"]]

    def _remove_quotas(self) -> None:
        """Delete all items as the account's owner."""
        sagemaker = self.client("sagemaker")

        def is_gone() -> bool:
            for item in self.quota_items():
                if item["Status"].endswith("ing"):
                    continue
                if "ComputeQuotaId" in item:
                    sagemaker.delete_compute_quota(ComputeQuotaId=item["ComputeQuotaId"])
                else:
                    sagemaker.delete_cluster_scheduler_config(ClusterSchedulerConfigId=item["ClusterSchedulerConfigId"])
            return not self.quota_items()

        self.until("the deletion of the quotas", is_gone)
