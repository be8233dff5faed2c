#!/bin/sh
# Run by the task control-plane on controllers. Set up databases, queues and APIs here.
# It does not change anything yet.
set -eu

echo "@{name}: control-plane on $(uname -n)"
