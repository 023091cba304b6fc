"""What HyperPod's own software does on a node: configuration files, Slurm's configuration, and the lifecycle scripts."""
