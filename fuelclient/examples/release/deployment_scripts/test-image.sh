#!/bin/sh
# Prints which image would be there to try a new cloud with.
set -eu
. ./functions.sh
say "would upload a small test image"
