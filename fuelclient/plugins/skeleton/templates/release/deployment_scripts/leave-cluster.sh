#!/bin/sh
# Run by the task leave-cluster on nodes that are removed. Remove them from services and clusters here.
# It does not change anything yet.
set -eu

echo "@{name}: leave-cluster on $(uname -n)"
