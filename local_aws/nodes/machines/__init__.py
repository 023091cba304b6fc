"""The hub's process, which holds the nodes of one cluster in namespaces of its own. Standard library only; runs as root."""
