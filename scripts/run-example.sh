#!/bin/sh
# Runs the example in front (`make run`). Ctrl-C is how a person ends it, so that is a success.
set -u
cd "$(dirname "$0")/.."
# On a terminal job control gives podwright a process group of its own: make, which would report an error, does not get the signal.
[ ! -t 0 ] || set -m
./bin/podwright run examples/hello.yaml
code=$?
[ "$code" -eq 130 ] || exit "$code"
