#!/bin/bash
# usage: inputs.sh FOLDER SOURCES PACKAGE...   Prints a line per input of a build, with apt's checksum: the source and packages.
# FOLDER/apt gets a configuration of apt for SOURCES (lines for apt), without this machine's packages. Nothing is installed.
set -euo pipefail

apt=$1/apt sources=$2
packages=("${@:3}")
mkdir -p "$apt"/{etc/apt.conf.d,etc/preferences.d,lists/partial,archives/partial}
: >"$apt/status"
printf '%s\n' "$sources" >"$apt/etc/sources.list"
# Proxies and the like are this machine's.
{ apt-config dump Acquire::http Acquire::https | grep '^Acquire::' || true; } >"$apt/etc/apt.conf.d/00machine"
cat >"$apt/apt.conf" <<CONF
Dir::Etc "$apt/etc";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
APT::Sandbox::User "root";
APT::Architecture "$(dpkg --print-architecture)";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
export APT_CONFIG=$apt/apt.conf
apt-get --quiet --quiet update >&2
apt-cache showsrc --only-source kubernetes | sed -n '/^Checksums-Sha256:/,/^[A-Z]/s/^ //p'
apt-cache show --no-all-versions "${packages[@]}" | grep -E '^(Package|Version|SHA256):'
