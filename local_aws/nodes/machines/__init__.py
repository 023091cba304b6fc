"""The hub's process, which runs the nodes of a cluster in separate namespaces. Standard library only; runs as root."""
