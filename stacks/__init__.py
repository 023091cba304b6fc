"""Wire the constructs of a cluster into stacks, one for each life cycle: network, storage, cluster."""
