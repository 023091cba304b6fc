#!/usr/bin/env bash
# Slurm runs this as root on a node before a job of a user starts there. It always succeeds: a failure would drain the node.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 077 # a user who can open the lock can hold it
jobs=/run/hyperpod-jobs user=$SLURM_JOB_USER uid=$SLURM_JOB_UID

[ "$uid" -ge 1000 ] || exit 0
install -d -m 0700 "$jobs"
exec 9>"$jobs/lock"
flock -w 30 9 # the epilog of another job of this user may be running
mkdir -p "$jobs/$uid" && touch "$jobs/$uid/$SLURM_JOB_ID"

# A login creates this folder, a job does not. Containers and MPI put their sockets there.
[ -d "/run/user/$uid" ] || install -d -m 0700 -o "$user" -g "$(id -g "$user")" "/run/user/$uid"
exit 0
