"""Synthesize the cluster files in clusters/; `-c cluster=NAME` selects one."""

from stacks.clusters_app import main

main()
