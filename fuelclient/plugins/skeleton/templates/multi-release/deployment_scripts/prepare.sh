#!/bin/sh
# Run by the task @{name}-prepare with the name of the release, in the directory of the plugin's scripts on the node.
# A task may run more than once on a node, so a script must not change a node that is done.
set -eu

mkdir -p /etc/fuel-@{name}
echo "Prepared for @{name} on $1."
