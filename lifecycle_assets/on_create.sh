#!/usr/bin/env bash
# HyperPod runs this on every node as root, in the folder to which it downloaded the scripts. The work is in lifecycle_script.py.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
log=/var/log/provision/provisioning.log
# A log that cannot be written, as on a full disk, is no reason to lose the node: what the scripts say goes to CloudWatch, too.
mkdir -p "$(dirname "$log")" || true
python3 -u lifecycle_script.py 2>&1 | { tee -a "$log" || true; }
