#!/bin/sh
# Run the main commands on the packaged examples. `make demo` calls this in an empty directory, with fuel2 on the PATH.
set -eu
cd "$1"
run() {
    printf '\n$ %s\n' "$*"
    "$@"
}
run fuel2 demo
run fuel2 release list
run fuel2 env list -f json
run fuel2 node list --env demo
run fuel2 graph list --env demo
run fuel2 graph preview --env demo
run fuel2 graph preview --env demo --assume controller=3,compute=8 --only changed -f github
run fuel2 graph download --env demo --all --file merged.yaml
run fuel2 graph validate --env demo
run fuel2 graph execute --env demo --wait
run fuel2 task list
run fuel2 task show 1
run fuel2 task gantt 1
