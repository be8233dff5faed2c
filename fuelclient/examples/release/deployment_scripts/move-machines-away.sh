#!/bin/sh
# Prints how a compute node would be emptied.
set -eu
. ./functions.sh
say "would migrate its virtual machines to other compute nodes"
