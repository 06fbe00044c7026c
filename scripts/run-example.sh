#!/bin/sh
# Runs the example in the foreground (`make run`). Ctrl-C is the normal way to end it, so that its exit code 130 is a success.
set -u
cd "$(dirname "$0")/.."
# On a terminal, job control gives podwright its own process group, so that make does not get the signal and report an error.
[ ! -t 0 ] || set -m
./bin/podwright run examples/hello.yaml
code=$?
[ "$code" -eq 130 ] || exit "$code"
