#!/bin/sh
# Prints how the links between nodes would be checked: links.sh listen|send|compare
set -eu
. ./functions.sh
case "${1:-}" in
    listen) say "would listen on each interface and VLAN" ;;
    send) say "would send one frame on each interface and VLAN" ;;
    compare) say "would compare what was sent with what arrived" ;;
    *) echo "links.sh listen|send|compare" >&2; exit 64 ;;
esac
