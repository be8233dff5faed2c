#!/bin/sh
# Prints how a node would be told to leave the network boot.
set -eu
. ./functions.sh
say "would set the node to boot from its first disk"
