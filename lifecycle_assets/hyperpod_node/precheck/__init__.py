"""`hyperpod-precheck`: is this node fit for jobs? One file per check. Runs as any user, long after the lifecycle scripts."""
