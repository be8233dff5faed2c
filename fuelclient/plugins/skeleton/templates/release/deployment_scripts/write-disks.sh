#!/bin/sh
# Called by the task write-disks on new nodes: put the partitioning and the copying of the system image here.
# It changes nothing yet.
set -eu

echo "@{name}: write-disks on $(uname -n)"
