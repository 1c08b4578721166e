#!/bin/sh
# Copies queue and store into a folder, both from one moment: all containers are stopped meanwhile.
#   sh deploy/backup.sh FOLDER
# COMPOSE is the compose program with its options, where it is not `docker compose`.
set -eu
umask 077
compose=${COMPOSE:-docker compose}
folder=${1:?name a folder for the copies}
mkdir -p "$folder"
for name in redis-data mongo-data; do
    if [ -e "$folder/$name.tar" ]; then
        echo "$folder/$name.tar is there already; name another folder" >&2
        exit 1
    fi
done

# Service, its folder, the volume's name. The copy has its name when it is whole.
copy() {
    $compose run --rm -T --no-deps --entrypoint tar "$1" --create --directory "$2" . < /dev/null > "$folder/$3.part" &&
        mv "$folder/$3.part" "$folder/$3.tar"
}

# Ctrl-C, or a terminal that is gone: else nothing would crawl any more.
trap '$compose start; exit 1' HUP INT TERM
$compose stop
status=0
copy redis /data redis-data && copy mongo /data/db mongo-data || status=$?
$compose start
exit $status
