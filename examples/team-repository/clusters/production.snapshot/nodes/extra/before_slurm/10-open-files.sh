#!/usr/bin/env bash
# Runs as root on every node before Slurm starts: raises the limit of open files. Scripts must be safe to run twice.
set -euo pipefail

printf '* %s nofile 1048576\n' soft hard > /etc/security/limits.d/90-open-files.conf
