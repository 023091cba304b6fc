"""Simulated nodes: real systemd and real Slurm on this machine, one container per node of a cluster."""
