"""What runs at the operator's: `python -m ops COMMAND CLUSTER`."""
