#!/bin/sh
# Prints what the monitoring of a rack would do: rack.sh inventory|collector|switch-ports|map|probe
set -eu
case "${1:-}" in
    inventory) echo "$(hostname): would read serial numbers and slots" ;;
    collector) echo "$(hostname): would check that the collector answers" ;;
    switch-ports) echo "$(hostname): would match interfaces with the ports of the switch" ;;
    map) echo "master: would draw which node sits where" ;;
    probe) echo "$(hostname): would start a probe for power and temperature" ;;
    *) echo "rack.sh inventory|collector|switch-ports|map|probe" >&2; exit 64 ;;
esac
