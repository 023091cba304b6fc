"""Render HyperPod's Helm chart on the author's machine, instead of the project's own objects. Imports no aws_cdk."""
