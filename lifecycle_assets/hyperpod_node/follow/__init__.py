"""The agent of a running node: it follows the cluster file's bundle of scripts and reports its state."""
