"""All that a preflight asks, in the order in which it is told."""

from ops.preflight.asking import Check
from ops.preflight.associations import associations
from ops.preflight.bootstrap import bootstrap
from ops.preflight.buckets import named_buckets, script_bucket
from ops.preflight.cluster_name import cluster_name
from ops.preflight.file_systems import file_systems
from ops.preflight.identity import identity, region, zone
from ops.preflight.instance_quotas import instance_quotas
from ops.preflight.network import internet, vpc
from ops.preflight.network_quotas import network_quotas
from ops.preflight.offerings import offerings
from ops.preflight.permissions import permissions
from ops.preflight.references import references
from ops.preflight.security_groups import security_groups
from ops.preflight.service_roles import service_roles
from ops.preflight.stacks import stacks
from ops.preflight.storage_quotas import storage_quotas
from ops.preflight.subnets import subnets
from ops.preflight.training_plans import training_plans

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
    Check("file systems", file_systems),
    Check("associations", associations),
    Check("references", references),
)
