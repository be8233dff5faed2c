#!/bin/sh
# Prints which image would be there to try a new cloud with.
set -eu
echo "$(hostname): would upload a small test image"
