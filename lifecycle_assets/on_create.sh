#!/usr/bin/env bash
# HyperPod runs this script on every node as root, in the folder with the downloaded scripts. It starts lifecycle_script.py.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
log=/var/log/provision/provisioning.log
# If the log cannot be written, for example on a full disk, the node must not fail: CloudWatch has the output, too.
mkdir -p "$(dirname "$log")" || true
minor=10 image='Ubuntu 22.04 or later'
if grep -qs '"orchestrator": *"eks"' node_settings.json; then minor=7 image='Amazon Linux 2023'; fi
if ! python3 -c "import sys; sys.exit(sys.version_info < (3, $minor))"; then
    found=$(python3 --version 2>&1 || true)
    message="lifecycle script failed: these scripts require Python 3.$minor or later, found: $found; use an image with $image"
    echo "$message" | { tee -a "$log" || true; }
    exit 1
fi
python3 -u lifecycle_script.py 2>&1 | { tee -a "$log" || true; }
