"""Runs on every node as root. Standard library only."""
