"""The responses of a node's instance metadata service, and its stub devices."""

import json
from datetime import UTC, datetime, timedelta

from local_aws.host_names import domain
from local_aws.hyperpod.model import Cluster, Node
from local_aws.iam import Session
from local_aws.network_interfaces import find_subnet
from local_aws.nodes.agent.view import hostname, shape

_AMI = "ami-00000000000000000"
_LIFETIME = timedelta(hours=6)


def metadata(cluster: Cluster, node: Node) -> dict[str, str]:
    """Return the node's metadata, by path."""
    subnet = find_subnet(cluster.account, cluster.region, node.interfaces[0].subnet_id)
    zone, zone_id = (str(subnet.availability_zone), str(subnet.availability_zone_id)) if subnet else ("", "")
    kind, name = node.type.removeprefix("ml."), f"{hostname(node.address)}.{domain(cluster.region)}"
    identity = {
        "accountId": cluster.account,
        "architecture": "x86_64",
        "availabilityZone": zone,
        "imageId": _AMI,
        "instanceId": node.id,
        "instanceType": kind,
        "privateIp": node.address,
        "region": cluster.region,
    }
    texts = {
        "ami-id": _AMI,
        "hostname": name,
        "instance-id": node.id,
        "instance-type": kind,
        "local-hostname": name,
        "local-ipv4": node.address,
        "placement/availability-zone": zone,
        "placement/availability-zone-id": zone_id,
        "placement/region": cluster.region,
    }
    paths = {f"latest/meta-data/{path}": text for path, text in texts.items()}
    return paths | {"latest/dynamic/instance-identity/document": json.dumps(identity, indent=2)}


def credentials(role_arn: str, session: Session) -> dict[str, str]:
    """Return the credentials of the node's role, by path; they are never renewed and do not expire here."""
    now = datetime.now(UTC).replace(microsecond=0)
    document = {
        "Code": "Success",
        "LastUpdated": now.isoformat().replace("+00:00", "Z"),
        "Type": "AWS-HMAC",
        "AccessKeyId": session.access_key,
        "SecretAccessKey": session.secret_key,
        "Token": session.token,
        "Expiration": (now + _LIFETIME).isoformat().replace("+00:00", "Z"),
    }
    return {f"latest/meta-data/iam/security-credentials/{role_arn.rpartition('/')[2]}": json.dumps(document, indent=2)}


def devices(type_name: str) -> tuple[str, ...]:
    """Return the stub GPU devices of an instance type: files where Slurm looks for GPUs, without devices behind them."""
    return tuple(f"/dev/null:/dev/nvidia{number}" for number in range(shape(type_name).gpus))
