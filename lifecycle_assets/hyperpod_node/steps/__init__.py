"""The steps, one or several to a module: each looks first, then acts, and may run twice.

A step that returns False had nothing to do with this node, as one for a file system that the cluster does not have.
"""
