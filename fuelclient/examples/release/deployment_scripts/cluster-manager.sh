#!/bin/sh
# Prints how a controller would join the cluster of controllers.
set -eu
echo "$(hostname): would start corosync and pacemaker and wait for a quorum"
