#!/bin/bash
# Installs packages, while another installation holds apt's lock.
set -eux

until command -v fuser >/dev/null; do sleep 1; done
while fuser /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock >/dev/null 2>&1; do
    echo "waiting for another installation"
    sleep 1
done
DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120 install jq curl
