#!/bin/sh
# Read by the other scripts: say what a real script would do, and write it down where the node is only a directory.
#
#   FAIL=NAME makes the script NAME.sh fail, to show what a failure looks like.
node=${NODE_NAME:-$(hostname)}
say() {
    echo "$node: $1"
    if [ -n "${NODE_ROOT:-}" ]; then
        mkdir -p "$NODE_ROOT/var/log"
        echo "$1" >> "$NODE_ROOT/var/log/deployment.log"
    fi
}
if [ "${FAIL:-}" = "$(basename "$0" .sh)" ]; then
    echo "$node: failed, because FAIL=$FAIL asks for it" >&2
    exit 1
fi
