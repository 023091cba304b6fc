"""A simulated training operator: it runs PyTorchJob and HyperPodPyTorchJob on simulated nodes, in place of the real operators.

Those need newer versions of Kubernetes, and images of registries. The texts of this one's states name it.
"""
