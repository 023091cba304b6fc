"""What a cluster is: the model of a cluster file, its rules, and the CreateCluster request. Imports no aws_cdk."""
