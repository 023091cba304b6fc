#!/usr/bin/env bash
# Runs on the controllers as root when Slurm responds: limits each user to 64 jobs in the queue.
set -euo pipefail

/opt/slurm/bin/sacctmgr --immediate modify qos normal set MaxSubmitJobsPerUser=64
