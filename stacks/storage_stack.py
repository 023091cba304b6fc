"""The storage of one cluster."""

from typing import Any

from aws_cdk import Stack
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.network import Network
from constructs.hyperpod.shared_storage import SharedStorage


class StorageStack(Stack):
    """Where data lives."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, network: Network, **kwargs: Any) -> None:
        super().__init__(scope, id, **kwargs)
        self.storage = SharedStorage(self, "Storage", config=config.storage, network=network)
