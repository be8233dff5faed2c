#!/bin/sh
# Prints which packages every node would get.
set -eu
for package in chrony openssh-server python-openstackclient; do
    echo "$(hostname): would install ${package}"
done
