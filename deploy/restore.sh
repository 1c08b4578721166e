#!/bin/sh
# Puts the copies of deploy/backup.sh into new, empty volumes; starts nothing.
#   sh deploy/restore.sh FOLDER
# COMPOSE is the compose program with its options, where it is not `docker compose`; as for the backup.
set -eu
compose=${COMPOSE:-docker compose}
folder=${1:?name the folder with the copies}
for name in redis-data mongo-data; do
    if [ ! -f "$folder/$name.tar" ]; then
        echo "$folder/$name.tar is not there" >&2
        exit 1
    fi
done
queues=$(cd "$folder" && ls | sed -n 's/^\(redis[0-9]*\)-data\.tar$/\1/p')

# Service, its folder.
is_empty() {
    $compose run --rm -T --no-deps --entrypoint sh "$1" -c "test -z \"\$(ls -A $2)\"" < /dev/null || {
        echo "the volume of $1 is not empty; remove the old ones: $compose down --volumes" >&2
        exit 1
    }
}

# Service, its folder, the volume's name.
put() {
    $compose run --rm -T --no-deps --entrypoint tar "$1" --extract --directory "$2" < "$folder/$3.tar"
}

for queue in $queues; do
    is_empty "$queue" /data
done
is_empty mongo /data/db
for queue in $queues; do
    put "$queue" /data "$queue-data"
done
put mongo /data/db mongo-data
