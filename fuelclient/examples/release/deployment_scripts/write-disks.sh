#!/bin/sh
# Prints how the disks of a node would be written. It never opens a disk.
set -eu
. ./functions.sh
say "would partition its disks and write the image of the operating system"
