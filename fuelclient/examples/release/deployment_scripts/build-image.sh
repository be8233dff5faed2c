#!/bin/sh
# Prints how the image of the operating system would be built.
set -eu
. ./functions.sh
say "would build an image of Ubuntu 16.04 with the kernel of the release"
