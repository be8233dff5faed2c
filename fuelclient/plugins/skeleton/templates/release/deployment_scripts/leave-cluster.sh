#!/bin/sh
# Called by the task leave-cluster on nodes that leave: put the removal from services and clusters here.
# It changes nothing yet.
set -eu

echo "@{name}: leave-cluster on $(uname -n)"
