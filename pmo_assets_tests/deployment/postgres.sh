#!/bin/sh
# What the entry point of PostgreSQL's image does with an empty volume.
set -e
if ! [ -s "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" > /tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust > /dev/null
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl --wait --options="-c listen_addresses= -c unix_socket_directories=/tmp" start > /dev/null
  createdb --host=/tmp --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --wait --mode=fast stop > /dev/null
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp
