"""HyperPod's part in Kubernetes: nodes of EKS join the API server and have HyperPod's labels and taints."""
