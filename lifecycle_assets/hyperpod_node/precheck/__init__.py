"""`hyperpod-precheck` checks whether this node is ready for jobs. Runs as any user, at any time."""
