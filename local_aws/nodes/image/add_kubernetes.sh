#!/bin/bash
# usage: add_kubernetes.sh IMAGE KUBELET FOLDER CACHE PACKAGE...   Creates FOLDER/made, a layer on IMAGE with the packages and
# KUBELET. Container images are imported once, into /var/lib/containerd-seed: nodes copy it when they boot.
set -euo pipefail

image=$1 kubelet=$2 made=$3/made cache=$4 grown=$3/grown root=$3/grown/root
recipe=$(cd "$(dirname "$0")" && pwd)/kubernetes
mkdir "$grown"
mount -t tmpfs grown "$grown"
mkdir "$grown"/{upper,work,root}
mount -t overlay -o "lowerdir=$image,upperdir=$grown/upper,workdir=$grown/work" root "$root"
for folder in /var/lib/apt/lists /run; do mount -t tmpfs lists "$root$folder"; done
mount --bind "$cache" "$root/var/cache/apt/archives"
mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
echo "I: installing ${*:5}"
chroot "$root" apt-get --quiet update
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get --quiet --yes --no-install-recommends install "${@:5}"
install -m 0755 "$kubelet" "$root/usr/local/bin/kubelet"
install -m 0755 "$recipe/run-kubelet" "$recipe/device_plugin.py" "$recipe/csi_driver.py" "$root/usr/local/lib/"
install -m 0644 "$recipe/units/kubelet.service" "$root/etc/systemd/system/"
install -m 0644 "$recipe/containerd.toml" "$root/etc/containerd/config.toml"
chroot "$root" systemctl --quiet disable containerd  # it runs beside the kubelet
mkdir -p "$root"/var/lib/{containerd,containerd-seed,kubelet} "$root/etc/cni/net.d" "$root/etc/kubernetes"

echo "I: importing container images"
python3 -I "$recipe/container_images.py" "$root/run/images.tar"
mount -t tmpfs containerd "$root/var/lib/containerd"  # containerd's own overlays cannot lie on this one
# shellcheck disable=SC2016  # the shell in the root expands it
chroot "$root" sh -euc '
    containerd >/run/containerd.log 2>&1 &
    for _ in $(seq 100); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
    ctr --namespace k8s.io images import --snapshotter overlayfs /run/images.tar || { cat /run/containerd.log; exit 1; }
    kill $!
    wait $! || true
    cp -a /var/lib/containerd/. /var/lib/containerd-seed/'
echo "I: keeping the new files"
umount "$root/var/lib/containerd"
rm -rf "$grown"/upper/{dev,run,tmp,var/log,var/cache}
cp -a "$grown/upper" "$made"
