"""The HyperPod agent of a simulated node: configuration files, Slurm's configuration, and the lifecycle scripts."""
