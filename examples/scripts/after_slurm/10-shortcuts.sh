#!/usr/bin/env bash
# Runs on every node as root when Slurm is there: where people log in, say what their jobs are doing.
set -euo pipefail

[[ $HYPERPOD_ROLE == compute ]] && exit 0
printf 'alias myjobs="squeue --me"\n' > /etc/profile.d/slurm-aliases.sh
