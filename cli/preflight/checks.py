"""All checks of a preflight, in the order of their output."""

from cli.preflight.associations import associations
from cli.preflight.buckets import named_buckets, script_bucket
from cli.preflight.capacity import offerings, training_plans
from cli.preflight.changes import changes, stacks
from cli.preflight.check import Check
from cli.preflight.cluster import cluster_name, cluster_replacement
from cli.preflight.control_plane import control_plane
from cli.preflight.eks_addons import access, eks_addons
from cli.preflight.eks_cluster import eks_cluster, kubernetes_version
from cli.preflight.file_systems import file_systems, kept_file_systems
from cli.preflight.network import foreign_resources, internet, vpc
from cli.preflight.permissions import permissions
from cli.preflight.prerequisites import bootstrap, identity, region, service_roles, zone
from cli.preflight.quotas import eks_quotas, instance_quotas, network_quotas, storage_quotas
from cli.preflight.references import references
from cli.preflight.security_groups import security_groups
from cli.preflight.subnets import subnets

CHECKS = (
    Check("identity", identity),
    Check("region", region),
    Check("zone", zone),
    Check("bootstrap", bootstrap),
    Check("permissions", permissions),
    Check("service roles", service_roles),
    Check("stacks", stacks),
    Check("cluster name", cluster_name),
    Check("script bucket", script_bucket),
    Check("buckets", named_buckets),
    Check("instance types", offerings),
    Check("training plans", training_plans),
    Check("instance quotas", instance_quotas),
    Check("network quotas", network_quotas),
    Check("storage quotas", storage_quotas),
    Check("vpc", vpc),
    Check("internet", internet),
    Check("subnets", subnets),
    Check("security groups", security_groups),
    Check("kubernetes version", kubernetes_version),
    Check("eks quotas", eks_quotas),
    Check("eks cluster", eks_cluster),
    Check("changes", changes),
    Check("cluster replacement", cluster_replacement),
    Check("control plane", control_plane),
    Check("eks addons", eks_addons),
    Check("eks access", access),
    Check("file systems", file_systems),
    Check("kept file systems", kept_file_systems),
    Check("associations", associations),
    Check("foreign resources", foreign_resources),
    Check("references", references),
)
