"""`./hpod events`: one timeline of a cluster, with a verdict on each event."""
