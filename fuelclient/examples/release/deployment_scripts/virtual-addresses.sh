#!/bin/sh
# Prints which addresses the controllers would share.
set -eu
. ./functions.sh
for address in management public; do
    say "would hand the ${address} address to pacemaker"
done
