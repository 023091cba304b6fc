"""The steps, one or several per module. Each checks the node, changes what is missing, and can run again.

A step returns False if it has nothing to do on this node, for example without a file system.
"""
