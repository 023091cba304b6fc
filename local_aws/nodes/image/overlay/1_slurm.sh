#!/bin/bash
# Sets up Slurm below /opt/slurm, as on HyperPod. Its configuration folder is there, and Debian's is a link to it.
set -euo pipefail

mkdir -p /opt/slurm/{bin,sbin,etc,lib} /var/spool/{slurmd,slurmctld} /var/log/slurm /opt/ml/config /var/log/provision
for program in sinfo squeue srun sbatch salloc scancel scontrol sacct sacctmgr sdiag sprio sshare sstat; do
    ln -s "/usr/bin/$program" /opt/slurm/bin/
done
ln -s /usr/sbin/slurm{ctld,d,dbd,stepd} /opt/slurm/sbin/
rm -rf /etc/slurm
ln -s /opt/slurm/etc /etc/slurm
ln -s /usr/lib/*/slurm-wlm /opt/slurm/lib/slurm
chown slurm:slurm /opt/slurm/etc /var/spool/slurmctld /var/log/slurm
echo "PATH=/opt/slurm/bin:/opt/slurm/sbin:\$PATH" >/etc/profile.d/slurm.sh
