"""Turn a cluster configuration into a CreateCluster request. Imports no aws_cdk."""
