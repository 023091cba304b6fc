"""Clusters that were described elsewhere, as cluster files: CreateCluster's input and the scripts' provisioning parameters."""

from config.imports.choices import Choices, Keep
from config.imports.cluster_file import Imported, imported
from config.imports.original import Original, read_original

__all__ = ["Choices", "Imported", "Keep", "Original", "imported", "read_original"]
