"""The tag that tells whose a resource is."""

CLUSTER_TAG = "hyperpod-cdk:cluster"
