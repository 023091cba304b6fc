"""Runs on every node as root, under the AMI's Python (3.10): standard library only."""
