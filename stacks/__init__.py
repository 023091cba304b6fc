"""Life cycles of one cluster: network, storage, cluster. They wire, grant and output."""
