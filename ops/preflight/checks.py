"""All that a preflight asks, in the order in which it is told."""

from ops.preflight.asking import Check
from ops.preflight.bootstrap import bootstrap
from ops.preflight.buckets import named_buckets, script_bucket
from ops.preflight.cluster_name import cluster_name
from ops.preflight.identity import identity, region, zone
from ops.preflight.instance_quotas import instance_quotas

CHECKS = (
    Check("identity", identity),
    Check("region", region),
    Check("zone", zone),
    Check("bootstrap", bootstrap),
    Check("cluster name", cluster_name),
    Check("script bucket", script_bucket),
    Check("buckets", named_buckets),
    Check("instance quotas", instance_quotas),
)
