#!/bin/sh
# Called by the task base-packages on every node: put the installation of common packages here.
# It changes nothing yet.
set -eu

echo "@{name}: base-packages on $(uname -n)"
