"""Cluster files for existing clusters, from CreateCluster's input and provisioning parameters."""

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.cluster_file import Imported, imported
from cli.import_cluster.original import Original, read_original

__all__ = ["Choices", "Imported", "Keep", "Original", "imported", "read_original"]
