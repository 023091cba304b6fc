#!/bin/bash
# Starts the daemon of the node's role. Only controllers have slurm.conf; the others fetch it.
set -eux

role=$1 controllers=$2
case $role in
controller)
    systemctl enable --now slurmctld
    ;;
compute)
    unit=/etc/systemd/system/slurmd.service
    # shellcheck disable=SC2016  # envsubst replaces this variable and no other
    SLURMD_OPTIONS="--conf-server=$controllers" envsubst '$SLURMD_OPTIONS' <$unit >slurmd.service
    mv slurmd.service $unit
    systemctl daemon-reload
    until timeout 2 bash -c "</dev/tcp/${controllers%%,*}/6817"; do sleep 1; done
    systemctl enable --now slurmd
    ;;
login)
    echo "SACKD_OPTIONS=--conf-server=$controllers" >/etc/default/sackd
    until timeout 2 bash -c "</dev/tcp/${controllers%%,*}/6817"; do sleep 1; done
    systemctl enable --now sackd
    ;;
esac
