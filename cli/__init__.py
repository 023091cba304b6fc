"""What runs at the operator's: `./hpod COMMAND CLUSTER`."""
