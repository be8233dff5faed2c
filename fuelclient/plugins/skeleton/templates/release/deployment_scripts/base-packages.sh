#!/bin/sh
# Run by the task base-packages on every node. Install common packages here.
# It does not change anything yet.
set -eu

echo "@{name}: base-packages on $(uname -n)"
