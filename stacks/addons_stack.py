"""Define what needs the nodes of a cluster on EKS."""

from aws_cdk import CustomResource, Duration, Fn, Stack
from constructs import Construct

from cluster_request.eks_addons import addons_after_nodes, all_addons
from cluster_request.quotas import compute_quotas, has_task_governance, scheduler_config
from config.fingerprint import fingerprint
from config.model import ClusterConfig, eks_of
from config.tags import CLUSTER_TAG
from constructs.hyperpod.kubernetes.addons import Addons
from constructs.hyperpod.kubernetes.compute_quotas import ComputeQuotas
from constructs.hyperpod.monitoring.topic_arn import topic_arn
from constructs.hyperpod.removal_policy import retain
from stacks.cluster_stack import ClusterStack
from stacks.stack_content import fill_if_empty


class AddonsStack(Stack):
    """Define the add-ons whose pods need nodes, and the quotas of teams; it is deleted before the HyperPod cluster.

    ``provider`` is the service token of the provider that also checks add-ons.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        cluster: ClusterStack,
        provider: str,
    ) -> None:
        super().__init__(scope, id, description=f"Add-ons of HyperPod cluster {config.name} on EKS")
        name = str(config.eks_cluster_name)
        keeps = config.keeps_cluster
        addons = Addons(
            self, "Addons", cluster_name=name, addons=addons_after_nodes(config), preserve=keeps, keep_identities=keeps
        )
        needs: list[Construct] = [addons]
        if has_task_governance(eks_of(config)):
            quotas = ComputeQuotas(
                self,
                "Quotas",
                cluster_arn=Fn.get_stack_output(cluster.stack_name, "ClusterArn"),
                eks_cluster_name=name,
                quotas=compute_quotas(config),
                scheduler=scheduler_config(config),
                identity=cluster.identity,
                tags={CLUSTER_TAG: config.name, **config.tags},
                needs=[addons],
                alarm_topic_arn=config.alarm_topic_arn or topic_arn(config),
            )
            needs.append(quotas)
            if keeps:
                retain(quotas.resource)
        if checked := all_addons(config):
            marks = {each.name.value: fingerprint(each) for each in checked}
            health = CustomResource(
                self,
                "Health",
                resource_type="Custom::HyperPodAddonHealth",
                service_token=provider,
                service_timeout=Duration.hours(1),
                properties={"ClusterName": name, "Name": f"addons-{fingerprint(marks)}", "Addons": marks},
            )
            # Nothing may come after it: if that failed, the rollback would check the old add-ons, and could fail too.
            health.node.add_dependency(*needs)
        fill_if_empty(self)
