#!/bin/sh
# Copies queue and store into a folder, both from one moment: all containers are stopped meanwhile.
#   sh deploy/backup.sh FOLDER
# COMPOSE is the compose program with its options, where it is not `docker compose`: with deploy/queues.yml
# "docker compose -f docker-compose.yml -f deploy/queues.yml", so that the second queue server is copied, too.
set -eu
umask 077
compose=${COMPOSE:-docker compose}
folder=${1:?name a folder for the copies}
mkdir -p "$folder"
queues=$($compose config --services < /dev/null | grep -x 'redis[0-9]*') || queues=redis
for name in $(printf '%s-data ' $queues) mongo-data; do
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
for queue in $queues; do
    [ $status -ne 0 ] || copy "$queue" /data "$queue-data" || status=$?
done
[ $status -ne 0 ] || copy mongo /data/db mongo-data || status=$?
$compose start
exit $status
