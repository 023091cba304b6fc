#!/bin/bash
# usage: add_packages.sh IMAGE FOLDER CACHE PACKAGE...   Makes FOLDER/made: what IMAGE gains when the packages are installed in it.
# It grows in memory and is copied then: the upper layer of an overlay cannot lie on every file system, a lower one can.
set -euo pipefail

image=$1 made=$2/made cache=$3 grown=$2/grown root=$2/grown/root
mkdir "$grown"
mount -t tmpfs grown "$grown"
mkdir "$grown"/{upper,work,root}
mount -t overlay -o "lowerdir=$image,upperdir=$grown/upper,workdir=$grown/work" root "$root"
for folder in /var/lib/apt/lists /run; do mount -t tmpfs lists "$root$folder"; done
mount --bind "$cache" "$root/var/cache/apt/archives"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
echo "I: installing ${*:4}"
chroot "$root" apt-get --quiet update
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get --quiet --yes --no-install-recommends install "${@:4}"
echo "I: keeping what is new"
rm -rf "$grown"/upper/{run,tmp,var/log,var/cache}
cp -a "$grown/upper" "$made"
