"""Read cluster files, check them and explain what is wrong. Imports no aws_cdk."""
