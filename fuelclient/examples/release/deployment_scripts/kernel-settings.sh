#!/bin/sh
# Prints which kernel settings a node would get.
set -eu
for setting in net.ipv4.ip_forward=1 vm.swappiness=10; do
    echo "$(hostname): would set ${setting}"
done
