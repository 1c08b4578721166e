#!/bin/sh
# Starts Redis with the users of redis-users.acl. Their passwords come from secret files, as SHA-256, on
# standard input, so that no list of processes and no file shows them.
set -eu
users=$(cat /etc/crawl/redis-users.acl)
for role in admin worker housekeeper spider console dashboard; do
    secret=redis_${role}_password
    password=$(cat "/run/secrets/$secret")
    if [ -z "$password" ]; then
        echo "the secret $secret is empty" >&2
        exit 1
    fi
    hash=$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)
    users=$(printf '%s\n' "$users" | sed "s/{$secret}/$hash/")
done
exec redis-server /etc/crawl/redis.conf - <<END
$users
END
