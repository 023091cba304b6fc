#!/bin/bash
# Lifecycle scripts in the style of AWS's base scripts, for tests: they share no code with this project's.
set -ex

cd "$(dirname "$0")"
exec > >(tee -a /var/log/foreign-scripts.log) 2>&1
systemd-run --quiet --collect --unit=unattended-upgrades-stand-in python3 "$PWD/hold_apt_lock.py"
until fuser /var/lib/dpkg/lock-frontend; do sleep 0.1; done
python3 -u lifecycle_script.py "$SAGEMAKER_RESOURCE_CONFIG_PATH" provisioning_parameters.json
