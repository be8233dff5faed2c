#!/bin/sh
# Prints which APIs would be asked whether they answer.
set -eu
. ./functions.sh
for port in 5000 8774 8776 9292 9696; do
    say "would ask the API on port ${port} for its versions"
done
