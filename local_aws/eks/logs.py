"""The control plane's log group, which EKS creates without retention where it does not exist. It stays empty here."""

from local_aws.eks.model import Cluster
from local_aws.json_service import Json

TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def merged(before: Json | None, change: Json | None) -> Json:
    """Return logging in the API's form: enabled types first."""
    enabled = set(_enabled(before))
    for item in (change or {}).get("clusterLogging") or ():
        types = set(item.get("types") or ())
        enabled = enabled | types if item.get("enabled") else enabled - types
    shown = [{"types": [name for name in TYPES if (name in enabled) is state], "enabled": state} for state in (True, False)]
    return {"clusterLogging": [item for item in shown if item["types"]]}


def _enabled(logging: Json | None) -> list[str]:
    return [name for item in (logging or {}).get("clusterLogging") or () if item.get("enabled") for name in item["types"]]


def ensure_group(cluster: Cluster) -> None:
    """Create the log group if a type of logs is enabled."""
    from moto.logs.models import logs_backends  # noqa: PLC0415  moto is loaded once the environment is set

    name = f"/aws/eks/{cluster.name}/cluster"
    backend = logs_backends[cluster.account][cluster.region]
    if _enabled(cluster.settings["logging"]) and name not in backend.groups:
        backend.create_log_group(name, {})
