#!/bin/sh
# Prints which kernel settings a node would get.
set -eu
. ./functions.sh
for setting in net.ipv4.ip_forward=1 vm.swappiness=10; do
    say "would set ${setting}"
done
