"""What the Slurm steps share: slurm.conf and its companions, daemons, and the accounting database."""
