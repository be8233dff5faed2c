#!/bin/sh
# Prints how new hypervisors would be made known.
set -eu
. ./functions.sh
say "would run nova-manage cell_v2 discover_hosts"
