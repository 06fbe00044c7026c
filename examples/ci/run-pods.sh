#!/bin/sh
# Runs the pods of a manifest in a CI job until they end. The exit code is 0 if all succeeded, else that of the first container that failed.
#   run-pods.sh MANIFEST [IMAGE-ARCHIVE...]
# The job runs as root, in a virtual machine or in a container with --privileged. No systemd, Docker or cluster is needed.
set -eu
manifest=${1:?usage: run-pods.sh MANIFEST [IMAGE-ARCHIVE...]}
shift
node=$(mktemp -d)
podwright() {
  command podwright --root "$node/root" --state "$node/state" --pod-logs "$node/logs" \
    --cgroup-parent "/ci-$$" --bridge "ci$$" "$@"
}
trap 'podwright stop --delete && rm -rf "$node"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for archive; do podwright load "$archive"; done
podwright run --once "$manifest"
