#!/bin/sh
# Prints how the message bus would come up.
set -eu
. ./functions.sh
say "would start RabbitMQ and mirror its queues"
