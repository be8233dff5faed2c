#!/bin/sh
# Prints what the monitoring of a rack would do: rack.sh inventory|collector|switch-ports|map|probe
set -eu
say() {
    echo "${NODE_NAME:-$(hostname)}: $1"
    if [ -n "${NODE_ROOT:-}" ]; then  # the node is only a directory
        mkdir -p "$NODE_ROOT/var/log"
        echo "$1" >> "$NODE_ROOT/var/log/deployment.log"
    fi
}
case "${1:-}" in
    inventory) say "would read serial numbers and slots" ;;
    collector) say "would check that the collector answers" ;;
    switch-ports) say "would match interfaces with the ports of the switch" ;;
    map) say "would draw which node sits where" ;;
    probe) say "would start a probe for power and temperature" ;;
    *) echo "rack.sh inventory|collector|switch-ports|map|probe" >&2; exit 64 ;;
esac
