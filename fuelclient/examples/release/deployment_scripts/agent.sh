#!/bin/sh
# Prints how an agent would come up: agent.sh NAME
set -eu
. ./functions.sh
agent=${1:?the name of the agent is missing}
say "would configure and start ${agent}"
