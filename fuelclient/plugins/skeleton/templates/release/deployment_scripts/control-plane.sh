#!/bin/sh
# Called by the task control-plane on controllers: put the set-up of databases, queues and APIs here.
# It changes nothing yet.
set -eu

echo "@{name}: control-plane on $(uname -n)"
