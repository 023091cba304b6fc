"""Rules for Slurm clusters."""
