#!/bin/sh
# Puts the copies of deploy/backup.sh into new, empty volumes; starts nothing.
#   sh deploy/restore.sh FOLDER
# COMPOSE is the compose program with its options, where it is not `docker compose`.
set -eu
compose=${COMPOSE:-docker compose}
folder=${1:?name the folder with the copies}
for name in redis-data mongo-data; do
    if [ ! -f "$folder/$name.tar" ]; then
        echo "$folder/$name.tar is not there" >&2
        exit 1
    fi
done

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

is_empty redis /data
is_empty mongo /data/db
put redis /data redis-data
put mongo /data/db mongo-data
