"""Commands that reach nodes: ssh, run, copy."""
