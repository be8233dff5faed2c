#!/bin/sh
# Prints how the message bus would come up.
set -eu
echo "$(hostname): would start RabbitMQ and mirror its queues"
