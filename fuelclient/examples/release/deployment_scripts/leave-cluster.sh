#!/bin/sh
# Prints how a node would leave.
set -eu
echo "$(hostname): would stop its services and remove them from the catalogue"
