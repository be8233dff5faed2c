#!/bin/sh
# Prints how the links between nodes would be checked: links.sh listen|send|compare
set -eu
case "${1:-}" in
    listen) echo "$(hostname): would listen on each interface and VLAN" ;;
    send) echo "$(hostname): would send one frame on each interface and VLAN" ;;
    compare) echo "master: would compare what was sent with what arrived" ;;
    *) echo "links.sh listen|send|compare" >&2; exit 64 ;;
esac
