#!/bin/sh
# Prints which APIs would be asked whether they answer.
set -eu
for port in 5000 8774 8776 9292 9696; do
    echo "$(hostname): would ask the API on port ${port} for its versions"
done
