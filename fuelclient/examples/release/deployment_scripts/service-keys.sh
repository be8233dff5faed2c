#!/bin/sh
# Prints which keys the master would create for an environment: service-keys.sh ENVIRONMENT
set -eu
. ./functions.sh
environment=${1:?the id of the environment is missing}
for service in mysql nova horizon; do
    say "would create a key of ${service} for environment ${environment}"
done
