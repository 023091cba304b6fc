"""Set up a node of a cluster on Amazon EKS. Runs on Amazon Linux 2, too, whose Python is 3.7."""
