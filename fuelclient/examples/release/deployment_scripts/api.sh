#!/bin/sh
# Prints how the API of a service would come up: api.sh SERVICE [bootstrap]
set -eu
. ./functions.sh
service=${1:?the name of the service is missing}
if [ "${2:-}" = bootstrap ]; then
    say "would create the tables and the first account of ${service}"
fi
say "would configure and start the API of ${service}"
