#!/bin/sh
# Prints how the API of a service would come up: api.sh SERVICE [bootstrap]
set -eu
service=${1:?the name of the service is missing}
if [ "${2:-}" = bootstrap ]; then
    echo "$(hostname): would create the tables and the first account of ${service}"
fi
echo "$(hostname): would configure and start the API of ${service}"
