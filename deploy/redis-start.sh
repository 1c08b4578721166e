#!/bin/sh
# Starts Redis with the password of the secret file: on standard input, so that no list of processes
# shows it.
set -eu
password=$(sed 's/[\\"]/\\&/g' /run/secrets/redis_password)
if [ -z "$password" ]; then
    echo "the secret redis_password is empty" >&2
    exit 1
fi
exec redis-server /etc/crawl/redis.conf - <<END
requirepass "$password"
END
