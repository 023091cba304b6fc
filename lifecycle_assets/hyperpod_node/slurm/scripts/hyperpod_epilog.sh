#!/usr/bin/env bash
# Slurm runs this as root on a node when a job ends there. It always succeeds: a failure would drain the node.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/opt/slurm/bin jobs=/run/hyperpod-jobs uid=$SLURM_JOB_UID
umask 077 # a user who can open the lock can hold it
[ "$uid" -ge 1000 ] || exit 0
install -d -m 0700 "$jobs" && rm -f "$jobs/$uid/$SLURM_JOB_ID"
exec 9>"$jobs/lock"
flock -w 30 9 || exit 0
# Remove marks of jobs whose epilog did not run. If slurmctld does not respond, the next epilog does it.
if [ -n "$(ls "$jobs/$uid" 2>/dev/null)" ] && known=$(timeout 5 squeue -h -u "$uid" -w "$SLURMD_NODENAME" -o %A); then
    for mark in "$jobs/$uid"/*; do grep -qx "${mark##*/}" <<<"$known" || rm -f "$mark"; done
fi
[ ! -d "$jobs/$uid" ] || rmdir "$jobs/$uid" 2>/dev/null || exit 0 # the user has other jobs here
for process in $(pgrep -u "$uid"); do # processes that the job left; logins are in user.slice
    grep -q /user.slice/ "/proc/$process/cgroup" 2>/dev/null || kill -KILL "$process" 2>/dev/null
done
for _ in 1 2 3 4 5 6 7 8 9 10; do pgrep -u "$uid" >/dev/null || break; sleep 0.1; done
pgrep -u "$uid" >/dev/null && exit 0 # the user is logged in and may use the files
find /tmp /dev/shm -xdev -mindepth 1 -maxdepth 1 -user "$uid" -exec rm -rf --one-file-system {} +
exit 0
