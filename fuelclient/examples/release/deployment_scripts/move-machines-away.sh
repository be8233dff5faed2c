#!/bin/sh
# Prints how a compute node would be emptied.
set -eu
echo "$(hostname): would migrate its virtual machines to other compute nodes"
