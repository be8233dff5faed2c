#!/bin/sh
# Prints what an image cache would do: cache.sh claim-disk|disks|server|image-service|warm
set -eu
case "${1:-}" in
    claim-disk) echo "$(hostname): would reserve the second disk for cached images" ;;
    disks) echo "$(hostname): would create a file system for cached images" ;;
    server) echo "$(hostname): would start a cache in front of the image service" ;;
    image-service) echo "$(hostname): would configure and start the API of glance with its caches" ;;
    warm) echo "$(hostname): would fetch the images that are used most" ;;
    *) echo "cache.sh claim-disk|disks|server|image-service|warm" >&2; exit 64 ;;
esac
