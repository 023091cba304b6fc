"""Rules for clusters with Amazon EKS."""
