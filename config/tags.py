"""The tags by which what a cluster file makes tells whose it is; a user's own tags never begin with the prefix."""

PREFIX = "hyperpod-cdk:"

RESERVED = ("aws:", PREFIX)
"""What no tag of a user's begins with: AWS's own prefix, and ours."""

CLUSTER_TAG = PREFIX + "cluster"
"""The cluster file's name, on all that its stacks make."""

NETWORK_TAG = PREFIX + "network"
"""The network that a file system was made in."""

# The cluster's owner, as lambda_assets/cluster_resource/event.py reads and writes it.
STACK_ID_TAG = PREFIX + "stack-id"
LOGICAL_ID_TAG = PREFIX + "logical-id"
VERSION_TAG = PREFIX + "version"
