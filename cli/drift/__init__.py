"""`./hpod drift`: the cluster file, DescribeCluster and the nodes, compared field by field."""
