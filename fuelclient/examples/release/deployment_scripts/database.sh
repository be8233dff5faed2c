#!/bin/sh
# Prints what the database would do: database.sh bootstrap|join
set -eu
. ./functions.sh
case "${1:-}" in
    bootstrap) say "would create a new Galera cluster" ;;
    join) say "would join the Galera cluster and wait for its data" ;;
    *) echo "database.sh bootstrap|join" >&2; exit 64 ;;
esac
