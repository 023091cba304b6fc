"""Define the storage of a cluster."""

from aws_cdk import Stack
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.reuse import storage_section
from constructs.hyperpod.storage import SharedStorage
from stacks.stack_content import define_outputs, fill_if_empty

DATA_BUCKET_OUTPUT = "DataBucketName"


class StorageStack(Stack):
    """Define the file system and the data bucket."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, network: Network) -> None:
        super().__init__(scope, id, description=f"Storage of HyperPod cluster {config.name}")
        self.storage = SharedStorage(self, "Storage", config=config.storage, network=network)
        fill_if_empty(self)

        reuse = storage_section(config.storage, self.storage)
        define_outputs(
            self,
            ("FileSystemId", self.storage.file_system_id, "File system mounted at /fsx on every node"),
            ("FileSystemDnsName", self.storage.dns_name, "DNS name of the file system"),
            ("FileSystemMountName", self.storage.mount_name, "Mount name of the file system"),
            (DATA_BUCKET_OUTPUT, self.storage.data_bucket_name, "S3 bucket linked to the file system"),
            ("StorageAfterDestroy", reuse, "Storage that cdk destroy retains, as YAML to reuse it"),
        )
