"""Define who has access to the EKS cluster."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_eks as eks
from constructs import Construct

from cluster_request.kubernetes_objects.team_objects import team_group
from config.eks import EksConfig

ADMIN_POLICY = "AmazonEKSClusterAdminPolicy"


class AccessEntries(Construct):
    """Define an access entry for each administrator and each role of a team.

    All entries are in one scope, so that a principal that moves from one team to another keeps its resource: EKS has one entry
    for each principal. Everything in the EKS cluster depends on them, so administrators keep access until it is deleted.
    Entries are never retained: a principal that is removed from the file loses its access.
    """

    def __init__(self, scope: Construct, id: str, *, config: EksConfig, cluster_name: str) -> None:
        super().__init__(scope, id)
        for arn in config.admins:
            self._entry(arn, cluster_name, policies=[cluster_admin()])
        for team in config.teams:
            for arn in team.role_arns:
                self._entry(arn, cluster_name, groups=[team_group(team.name)])

    def _entry(
        self,
        arn: str,
        cluster_name: str,
        *,
        policies: Sequence[eks.CfnAccessEntry.AccessPolicyProperty] = (),
        groups: Sequence[str] = (),
    ) -> None:
        """Define an entry with both lists: CloudFormation may keep the old value of a removed property."""
        eks.CfnAccessEntry(
            self,
            arn,
            cluster_name=cluster_name,
            principal_arn=arn,
            access_policies=list(policies),
            kubernetes_groups=list(groups),
            type="STANDARD",
        )


def cluster_admin() -> eks.CfnAccessEntry.AccessPolicyProperty:
    """Return the association with the policy that allows everything in the EKS cluster."""
    return eks.CfnAccessEntry.AccessPolicyProperty(
        policy_arn=f"arn:{cdk.Aws.PARTITION}:eks::aws:cluster-access-policy/{ADMIN_POLICY}",
        access_scope=eks.CfnAccessEntry.AccessScopeProperty(type="cluster"),
    )
