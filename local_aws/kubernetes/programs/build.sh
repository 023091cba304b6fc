#!/bin/bash
# usage: build.sh FOLDER PROGRAM...   Creates FOLDER/made with these programs.
# etcd and kubectl come from Debian's packages, the others from Debian's source package of Kubernetes 1.20, built with Debian's Go.
# inputs.sh has written FOLDER/apt. Nothing is installed.
set -euo pipefail

folder=$1 programs=("${@:2}")
tools=$folder/tools tree=$folder/go/src/k8s.io/kubernetes
export APT_CONFIG=$folder/apt/apt.conf
mkdir -p "$folder"/{download,go/src/k8s.io,cache,home,tmp,built} "$tools"

say() { echo "I: $*"; }

unpack() {  # unpack PACKAGE...: into the folder of tools
    (cd "$folder/download" && apt-get --quiet --quiet download "$@")
    for name; do dpkg-deb --extract "$folder/download/${name}"_*.deb "$tools"; done
}

say "downloading Kubernetes' source and Go"
(cd "$folder/download" && apt-get --quiet --quiet --download-only source kubernetes)
unpack golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev
tar -xzf "$folder"/download/kubernetes_*.orig.tar.gz -C "$folder"
mv "$folder"/kubernetes-1.* "$tree"
version=$(sed -n 's/^Version: .*really\([0-9.]*\)-.*/\1/p' "$folder"/download/kubernetes_*.dsc)
IFS=. read -r major minor _ <<<"$version"

# The API server with its own reflect2 1.0.1 and Go 1.18 or newer crashes on the first custom resource; Debian's 1.0.2 does not.
reflect2=vendor/github.com/modern-go/reflect2
rm "$tree/$reflect2"/*.go
cp "$tools/usr/share/gocode/src/github.com/modern-go/reflect2"/*.go "$tree/$reflect2/"
rm -f "$tree/$reflect2"/*_test.go "$tree/$reflect2"/go_above_17.go "$tree/$reflect2"/go_below_1[79].go

unset GOFLAGS
export GOROOT=$tools/usr/lib/go-1.19 GOPATH=$folder/go GOCACHE=$folder/cache HOME=$folder/home TMPDIR=$folder/tmp
export PATH=$GOROOT/bin:$PATH GO111MODULE=off CGO_ENABLED=0
cd "$tree"
go() { setpriv --pdeathsig KILL go "$@"; }

# The source has all generated files but this one.
say "generating the OpenAPI description"
module=k8s.io/kubernetes
go build -v -o "$folder/openapi-gen" "$module/vendor/k8s.io/kube-openapi/cmd/openapi-gen"
described=$(grep --recursive --dereference-recursive --files-with-matches --include='*.go' '+k8s:openapi-gen=' \
    --exclude='zz_generated*' --exclude-dir=sample-apiserver --exclude-dir=code-generator cmd pkg plugin vendor/k8s.io |
    xargs --max-args=1 dirname | sort --unique | sed "s,^,$module/," | paste --serial --delimiters=,)
"$folder/openapi-gen" --logtostderr -i "$described" -p "$module/pkg/generated/openapi" -O zz_generated.openapi \
    -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r /dev/null

flags="-s -w"
for package in client-go/pkg component-base; do
    for field in "gitVersion=v$version" "gitMajor=$major" "gitMinor=$minor"; do
        flags+=" -X $module/vendor/k8s.io/$package/version.$field"
    done
done
from_package() {  # from_package PACKAGE PROGRAM
    say "downloading $2"
    unpack "$1"
    install -m 0755 "$tools/usr/bin/$2" "$folder/built/"
}
for program in "${programs[@]}"; do
    case $program in
        etcd) from_package etcd-server etcd ;;
        kubectl) from_package kubernetes-client kubectl ;;
        *)
            say "building $program"
            # Without the code for clouds, the programs are smaller and build faster.
            go build -v -trimpath -tags providerless -ldflags "$flags" -o "$folder/built/" "$module/cmd/$program"
            ;;
    esac
done
printf '%s\n' "$version" >"$folder/built/version"
mv "$folder/built" "$folder/made"
