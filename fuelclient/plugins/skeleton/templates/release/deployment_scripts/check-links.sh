#!/bin/sh
# Called by the task check-links on every node: put the test of the links to the other nodes here.
# It changes nothing yet.
set -eu

echo "@{name}: check-links on $(uname -n)"
