#!/bin/sh
# Prints which addresses the controllers would share.
set -eu
for address in management public; do
    echo "$(hostname): would hand the ${address} address to pacemaker"
done
