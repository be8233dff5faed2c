#!/bin/sh
# Prints what the report of a deployment would hold: report.sh ENVIRONMENT
set -eu
. ./functions.sh
environment=${1:?the id of the environment is missing}
say "would write the addresses of the APIs of environment ${environment}"
