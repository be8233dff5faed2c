#!/bin/sh
# Prints what the database would do: database.sh bootstrap|join
set -eu
case "${1:-}" in
    bootstrap) echo "$(hostname): would create a new Galera cluster" ;;
    join) echo "$(hostname): would join the Galera cluster and wait for its data" ;;
    *) echo "database.sh bootstrap|join" >&2; exit 64 ;;
esac
