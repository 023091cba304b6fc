"""The Kubernetes API of an EKS cluster, for operators."""
