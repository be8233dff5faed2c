#!/bin/sh
# Prints how a controller would join the cluster of controllers.
set -eu
. ./functions.sh
say "would start corosync and pacemaker and wait for a quorum"
