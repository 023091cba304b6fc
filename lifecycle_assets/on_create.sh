#!/usr/bin/env bash
# HyperPod runs this script on every node as root, in the folder with the downloaded scripts. It starts lifecycle_script.py.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
log=/var/log/provision/provisioning.log
# If the log cannot be written, for example on a full disk, the node must not fail: CloudWatch has the output, too.
mkdir -p "$(dirname "$log")" || true
python3 -u lifecycle_script.py 2>&1 | { tee -a "$log" || true; }
