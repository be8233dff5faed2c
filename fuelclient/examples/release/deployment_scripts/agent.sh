#!/bin/sh
# Prints how an agent would come up: agent.sh NAME
set -eu
agent=${1:?the name of the agent is missing}
echo "$(hostname): would configure and start ${agent}"
