"""Read and check cluster files, and explain their problems. Imports no aws_cdk."""
