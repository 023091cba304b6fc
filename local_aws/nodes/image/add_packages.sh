#!/bin/bash
# usage: add_packages.sh IMAGE FOLDER CACHE PACKAGE...   Creates FOLDER/made, a layer on IMAGE with the packages.
# It is built in memory and then copied: any file system can hold the lower layer of an overlay, but not every one the upper.
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
echo "I: keeping the new files"
rm -rf "$grown"/upper/{run,tmp,var/log,var/cache}
cp -a "$grown/upper" "$made"
