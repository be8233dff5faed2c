#!/bin/sh
# Prints which packages every node would get.
set -eu
. ./functions.sh
for package in chrony openssh-server python-openstackclient; do
    say "would install ${package}"
done
