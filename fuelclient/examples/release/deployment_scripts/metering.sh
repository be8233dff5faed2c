#!/bin/sh
# Prints how the store of measurements would come up.
set -eu
. ./functions.sh
say "would create the archive policies of Gnocchi and start it"
