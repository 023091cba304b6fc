#!/usr/bin/env bash
# HyperPod runs this script on every node as root, in the folder with the downloaded scripts. It starts lifecycle_script.py.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
log=/var/log/provision/provisioning.log
# If the log cannot be written, for example on a full disk, the node must not fail: CloudWatch has the output, too.
mkdir -p "$(dirname "$log")" || true
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    found=$(python3 --version 2>&1 || true)
    message="lifecycle script failed: these scripts require Python 3.10 or later, found: $found; use an image with Ubuntu 22.04 or later"
    echo "$message" | { tee -a "$log" || true; }
    exit 1
fi
python3 -u lifecycle_script.py 2>&1 | { tee -a "$log" || true; }
