#!/usr/bin/env bash
# Runs on every node as root before Slurm starts there: more open files for whoever logs in. May run twice, as all of these.
set -euo pipefail

printf '* %s nofile 1048576\n' soft hard > /etc/security/limits.d/90-open-files.conf
