#!/bin/bash
# Creates the groups and users of a file: name,uid,home in each line.
set -eux

while IFS=, read -r name uid home; do
    getent group "$name" || groupadd --gid "$uid" "$name"
    id "$name" || useradd --uid "$uid" --gid "$uid" --home-dir "$home" --shell /bin/bash "$name"
    install --directory --mode=0700 --owner="$name" --group="$name" "$home"
done <"$1"
