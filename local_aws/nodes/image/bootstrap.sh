#!/bin/bash
# usage: bootstrap.sh SUITE SOURCES FOLDER CACHE PACKAGE...   Creates FOLDER/made, a Debian set up as a HyperPod node.
# Packages come from SOURCES (lines for apt) through CACHE. mmdebstrap refuses packages that are not signed with the sources' keys.
set -euo pipefail

suite=$1 sources=$2 root=$3/made archives=$3/made/var/cache/apt/archives cache=$4
packages=$(IFS=, && echo "${*:5}")
recipe=$(cd "$(dirname "$0")" && pwd)
overlay=$recipe/overlay
wheels=()
if compgen -G "$recipe/extra/wheels/*.whl" >/dev/null; then
    pip='pip install --quiet --no-index --break-system-packages --root-user-action=ignore'
    wheels=("--customize-hook=echo 'I: installing wheels' && cp -r '$recipe/extra/wheels' '$root/root/wheels'"
        "--customize-hook=chroot '$root' sh -c '$pip /root/wheels/*.whl && rm -r /root/wheels'")
fi
# Nodes do without documentation, and without the examples and the prompt index of the AWS CLI, which take 42 MB.
unread=()
aws=lib/python3/dist-packages/awscli
for path in share/{doc,man,locale}/\* $aws/examples/\* $aws/data/ac.index; do unread+=("--dpkgopt=path-exclude=/usr/$path"); done

mmdebstrap --mode=root --variant=apt --include="$packages" "${unread[@]}" --dpkgopt=force-unsafe-io \
    --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' --skip=cleanup/apt/cache \
    --setup-hook="mkdir -p '$archives' && cp -a '$cache/.' '$archives'" \
    --customize-hook="find '$archives' -name '*.deb' -exec mv -t '$cache' {} +" \
    --customize-hook="echo 'I: overlaying the files of a HyperPod node' && cp -r '$overlay' '$root/root/overlay'" \
    --customize-hook="chroot '$root' run-parts --exit-on-error --regex='sh\$' /root/overlay" "${wheels[@]}" \
    "$suite" "$root" - <<<"$sources"
