"""Choose the availability zones of the EKS control plane."""

from config.zones import region_of_zone, zones_of

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
UNSUPPORTED = ("use1-az3", "usw1-az2", "cac1-az3")
REQUIRED = 2


def control_plane_zones(node_zone_id: str) -> tuple[str, ...]:
    """Return the nodes' zone, if EKS supports it, and the next one of its region; empty if the region's zones are unknown.

    A zone that the account lacks fails at deployment; `eks.control_plane_zone_ids` names others.
    """
    known = [zone for zone in zones_of(region_of_zone(node_zone_id) or "") if zone not in UNSUPPORTED]
    first = known.index(node_zone_id) if node_zone_id in known else 0
    found = (*known[first:], *known[:first])[:REQUIRED]
    return found if len(found) == REQUIRED else ()
