#!/bin/sh
# Run by the task check-links on every node. Test the links to the other nodes here.
# It does not change anything yet.
set -eu

echo "@{name}: check-links on $(uname -n)"
