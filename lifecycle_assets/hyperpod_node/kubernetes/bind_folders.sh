#!/usr/bin/env bash
# bind_folders.sh DISK FOLDER...: mount each folder on the disk. Its files are copied if the disk has none, for example after the
# instance store was replaced. Without the disk, the folders on the root volume are used.
set -euo pipefail

disk=$1
shift
if ! mountpoint -q "$disk"; then
    echo "warning: $disk is not mounted: images and pods use the root volume"
    exit 0
fi
for folder in "$@"; do
    if mountpoint -q "$folder"; then continue; fi
    target=$disk/kubernetes/$(basename "$folder")
    mkdir -p "$folder" "$target"
    if [[ -z $(ls -A "$target") ]]; then cp -a "$folder/." "$target/"; fi
    mount --bind "$target" "$folder"
done
