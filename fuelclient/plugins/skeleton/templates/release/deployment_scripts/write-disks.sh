#!/bin/sh
# Run by the task write-disks on new nodes. Partition the disks and copy the system image here.
# It does not change anything yet.
set -eu

echo "@{name}: write-disks on $(uname -n)"
