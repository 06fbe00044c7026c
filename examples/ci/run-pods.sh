#!/bin/sh
# Runs the pods of a manifest in a CI job until they end. The exit code is 0 if all succeeded, else that of the first container that failed.
#   run-pods.sh MANIFEST [IMAGE-ARCHIVE...]
# The job runs as root, in a virtual machine or in a container with --privileged. No systemd, Docker or cluster is needed.
set -eu
manifest=${1:?usage: run-pods.sh MANIFEST [IMAGE-ARCHIVE...]}
shift
node=$(mktemp -d)
random() { od -An -N1 -tu1 /dev/urandom | tr -d ' '; }
# A name and a subnet that no other node of the host has: the job runs next to a node with the defaults, and next to other jobs.
id=$(random)-$(random)
subnet=10.$((128 + $(random) % 128)).$(random).0/24
podwright() {
  command podwright --root "$node/root" --state "$node/state" --pod-logs "$node/logs" --cgroup-parent "/ci-$id" \
    --bridge "ci$id" --subnet "$subnet" --cni-conf-dir "$node/net.d" "$@"
}
# It has no node to stop unless the job was interrupted.
trap 'podwright stop --delete > /dev/null && rm -rf "$node"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for archive; do podwright load "$archive"; done
podwright run --once "$manifest"
