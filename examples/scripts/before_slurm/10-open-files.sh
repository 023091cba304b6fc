#!/usr/bin/env bash
# Runs on every node as root before Slurm starts: raises the limit of open files. Like all scripts here, it can run twice.
set -euo pipefail

printf '* %s nofile 1048576\n' soft hard > /etc/security/limits.d/90-open-files.conf
