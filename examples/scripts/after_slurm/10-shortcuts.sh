#!/usr/bin/env bash
# Runs on every node as root after Slurm has started: adds the alias myjobs where users log in.
set -euo pipefail

[[ $HYPERPOD_ROLE == compute ]] && exit 0
printf 'alias myjobs="squeue --me"\n' > /etc/profile.d/slurm-aliases.sh
