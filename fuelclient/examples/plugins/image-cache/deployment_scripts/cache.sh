#!/bin/sh
# Prints what an image cache would do: cache.sh claim-disk|disks|server|image-service|warm
set -eu
say() {
    echo "${NODE_NAME:-$(hostname)}: $1"
    if [ -n "${NODE_ROOT:-}" ]; then  # the node is only a directory
        mkdir -p "$NODE_ROOT/var/log"
        echo "$1" >> "$NODE_ROOT/var/log/deployment.log"
    fi
}
case "${1:-}" in
    claim-disk) say "would reserve the second disk for cached images" ;;
    disks) say "would create a file system for cached images" ;;
    server) say "would start a cache in front of the image service" ;;
    image-service) say "would configure and start the API of glance with its caches" ;;
    warm) say "would fetch the images that are used most" ;;
    *) echo "cache.sh claim-disk|disks|server|image-service|warm" >&2; exit 64 ;;
esac
