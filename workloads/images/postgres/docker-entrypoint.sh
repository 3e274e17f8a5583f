#!/bin/bash
# Starts PostgreSQL in this image; initialises an empty data directory first.
#
#   PGDATA                     data directory
#   POSTGRES_USER              superuser to create (postgres)
#   POSTGRES_DB                database to create (the user's name)
#   POSTGRES_PASSWORD          its password, or
#   POSTGRES_PASSWORD_FILE     a file that holds it
#   POSTGRES_INITDB_ARGS       further words for initdb
#   POSTGRES_HOST_AUTH_METHOD  method for connections by TCP (scram-sha-256); `trust` needs no password
#
# Runs as root, and then drops to the user postgres, or as any other user.
set -Eeuo pipefail

fail() {
    echo "docker-entrypoint: $*" >&2
    exit 1
}

# "postgres -c x=y" and "-c x=y" start the server; anything else is run as it is.
if [ "${1:-}" = "" ] || [ "${1#-}" != "$1" ]; then
    set -- postgres "$@"
fi
[ "$1" = postgres ] || exec "$@"
for word in "${@:2}"; do
    case "$word" in
        --help | -'?' | --version | -V | --describe-config) exec "$@" ;;
    esac
done

: "${PGDATA:=/var/lib/postgresql/data}"
export PGDATA
# Under emulation a first start takes long.
export PGCTLTIMEOUT=${PGCTLTIMEOUT:-600}
sockets=/var/run/postgresql

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA" "$sockets"
    # Only what has another owner: a large data directory must not be walked for nothing.
    find "$PGDATA" "$sockets" \! -user postgres -exec chown postgres:postgres {} +
    chmod 0700 "$PGDATA"
    chmod 1777 "$sockets"
    exec setpriv --reuid postgres --regid postgres --init-groups -- "$BASH_SOURCE" "$@"
fi

mkdir -p "$PGDATA" || fail "cannot make the data directory $PGDATA as uid $(id -u)"
[ -w "$PGDATA" ] || fail "the data directory $PGDATA is not writable for uid $(id -u)"
chmod 0700 "$PGDATA" 2>/dev/null || true

# An unfinished initialisation leaves this file behind. It is beside nothing of value: the server has
# never accepted a connection yet.
unfinished="$PGDATA/dbbench-initialising"
if [ -e "$unfinished" ]; then
    echo "docker-entrypoint: an earlier initialisation of $PGDATA did not finish: starting it again" >&2
    find "$PGDATA" -mindepth 1 -maxdepth 1 \! -name "${unfinished##*/}" -exec rm -rf {} +
elif [ -s "$PGDATA/PG_VERSION" ]; then
    exec "$@"
elif [ -n "$(find "$PGDATA" -mindepth 1 -maxdepth 1 \! -name lost+found -print -quit)" ]; then
    fail "$PGDATA is not empty and holds no database"
fi

user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
password=${POSTGRES_PASSWORD:-}
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
    [ -z "$password" ] || fail "POSTGRES_PASSWORD and POSTGRES_PASSWORD_FILE are both set"
    password=$(cat "$POSTGRES_PASSWORD_FILE") || fail "cannot read POSTGRES_PASSWORD_FILE"
fi
unset POSTGRES_PASSWORD
if [ -z "$password" ] && [ "$method" != trust ]; then
    fail "no password: set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE (or POSTGRES_HOST_AUTH_METHOD=trust)"
fi

# initdb wants a user name for the uid and an empty directory, so it works in a subdirectory whose
# files are moved up once they are complete; the marker stays until everything below has succeeded.
: > "$unfinished"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! getent passwd "$(id -u)" > /dev/null; then
    wrapper=$(find /usr/lib -name libnss_wrapper.so -print -quit)
    [ -n "$wrapper" ] || fail "uid $(id -u) has no name in this image"
    echo "postgres:x:$(id -u):$(id -g):PostgreSQL:$PGDATA:/bin/false" > "$work/passwd"
    echo "postgres:x:$(id -g):" > "$work/group"
    export LD_PRELOAD=$wrapper NSS_WRAPPER_PASSWD=$work/passwd NSS_WRAPPER_GROUP=$work/group
fi
fresh="$PGDATA/dbbench-initdb"
password_option=()
if [ -n "$password" ]; then
    (umask 077 && printf '%s\n' "$password" > "$work/password")
    password_option=(--pwfile="$work/password")
fi
# shellcheck disable=SC2086  # POSTGRES_INITDB_ARGS is a list of words
initdb --pgdata="$fresh" --username="$user" "${password_option[@]}" \
    --auth-local=trust --auth-host="$method" ${POSTGRES_INITDB_ARGS:-}
rm -f "$work/password"
printf '\n# Any address, not only this machine\nhost all all all %s\n' "$method" >> "$fresh/pg_hba.conf"
find "$fresh" -mindepth 1 -maxdepth 1 -exec mv -t "$PGDATA" {} +
rmdir "$fresh"

# The database is made by a server that only this script can reach.
private() {
    pg_ctl --pgdata="$PGDATA" --silent --wait "$@"
}
private -o "-c listen_addresses='' -c unix_socket_directories='$work' -c logging_collector=off" start
if [ "$database" != postgres ]; then
    psql --host="$work" --username="$user" --dbname=postgres --no-psqlrc --quiet \
        --set=ON_ERROR_STOP=1 --set=name="$database" <<< 'CREATE DATABASE :"name";'
fi
private --mode=fast stop
rm -rf "$work"
trap - EXIT
unset LD_PRELOAD NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP
sync "$PGDATA"
rm "$unfinished"

echo "docker-entrypoint: $PGDATA is initialised" >&2
exec "$@"
