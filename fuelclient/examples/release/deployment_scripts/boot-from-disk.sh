#!/bin/sh
# Prints how a node would be told to leave the network boot.
set -eu
echo "master: would set the node to boot from its first disk"
