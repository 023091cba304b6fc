"""The parts of a HyperPod cluster: network, shared storage, node role, lifecycle scripts and the cluster itself."""
