"""Objects in Kubernetes that the deployment applied and that no longer exist."""

import json
from collections.abc import Iterator

import cli.resource_code  # noqa: F401  finds the functions' code
from cli.deployment import Deployment
from cli.drift.difference import Difference
from cli.errors import UnreachableError
from cli.kubernetes.client import OperatorClient
from cli.result import Json
from kubernetes_resource.inventory import COLLECTION, ENTRIES
from kubernetes_resource.objects import MANAGER, Reference

NAME = f"{MANAGER}-hyperpod"
KEEP = "a deployment creates it again only when it changes objects in Kubernetes"


def object_differences(deployment: Deployment) -> list[Difference]:
    """Return the objects of the inventory that do not exist."""
    with deployment.kubernetes() as client:
        return list(_missing(client))


def _missing(client: OperatorClient) -> Iterator[Difference]:
    inventory = client.get(f"{COLLECTION}/{NAME}")
    if inventory is None:
        yield Difference(f"ConfigMap kube-system/{NAME}", "object", "exists", None, KEEP)
        return
    for reference in _references(inventory.get("data") or {}):
        if not client.exists(reference):
            yield Difference(str(reference), "object", "exists", None, KEEP)


def _references(data: Json) -> list[Reference]:
    try:
        return [Reference(**{name: str(entry[name]) for name in Reference._fields}) for entry in json.loads(data[ENTRIES])]
    except (KeyError, TypeError, ValueError) as error:
        raise UnreachableError(f"ConfigMap kube-system/{NAME}: data.{ENTRIES} is not a list of objects; restore it") from error
