#!/bin/bash
# Gives each user of a file a key for ssh between nodes. The homes are shared: one node creates it.
set -eux

while IFS=, read -r name _ home; do
    install --directory --mode=0700 --owner="$name" --group="$name" "$home/.ssh"
    key=$home/.ssh/id_ed25519
    (
        flock 9
        [ -e "$key" ] || ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$key"
        cp "$key.pub" "$home/.ssh/authorized_keys"
        chown "$name:$name" "$key" "$key.pub" "$home/.ssh/authorized_keys"
    ) 9>"$home/.ssh/.lock"
done <"$1"
