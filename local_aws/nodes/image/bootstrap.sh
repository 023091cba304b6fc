#!/bin/bash
# usage: bootstrap.sh SUITE SOURCES FOLDER CACHE PACKAGE...   Makes FOLDER/made, a Debian dressed as a HyperPod node.
# Packages come from SOURCES (apt's lines), by way of CACHE. mmdebstrap refuses what is not signed with the keys they name.
set -euo pipefail

suite=$1 sources=$2 root=$3/made archives=$3/made/var/cache/apt/archives cache=$4
packages=$(IFS=, && echo "${*:5}")
dress=$(cd "$(dirname "$0")" && pwd)/dress
unread=()
for folder in doc man locale; do unread+=("--dpkgopt=path-exclude=/usr/share/$folder/*"); done

mmdebstrap --mode=root --variant=apt --include="$packages" "${unread[@]}" --dpkgopt=force-unsafe-io \
    --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' --skip=cleanup/apt/cache \
    --setup-hook="mkdir -p '$archives' && cp -a '$cache/.' '$archives'" \
    --customize-hook="find '$archives' -name '*.deb' -exec mv -t '$cache' {} +" \
    --customize-hook="echo 'I: dressing it as a HyperPod node' && cp -r '$dress' '$root/root/dress'" \
    --customize-hook="chroot '$root' run-parts --exit-on-error --regex='sh\$' /root/dress" \
    "$suite" "$root" - <<<"$sources"
