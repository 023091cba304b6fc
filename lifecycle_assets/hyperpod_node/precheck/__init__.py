"""`hyperpod-precheck` checks whether this node is ready for jobs. One file per check. Runs as any user, at any time."""
