#!/bin/sh
# Prints how a node would leave.
set -eu
. ./functions.sh
say "would stop its services and remove them from the catalogue"
