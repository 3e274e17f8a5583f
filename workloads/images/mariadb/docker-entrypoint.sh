#!/bin/bash
# Starts MariaDB in this image; initialises an empty data directory first.
#
#   MARIADB_ROOT_PASSWORD             password of root, or
#   MARIADB_ROOT_PASSWORD_FILE        a file that holds it
#   MARIADB_ALLOW_EMPTY_ROOT_PASSWORD anything: root needs no password
#   MARIADB_ROOT_HOST                 from where root may connect, beside this machine (%); empty: nowhere
#   MARIADB_DATABASE                  database to create
#   MARIADB_USER                      user to create, with all rights on that database
#   MARIADB_PASSWORD(_FILE)           its password
#
# Each has a second name that begins with MYSQL_ instead. Runs as root, and then drops to the user
# mysql, or as any other user.
set -Eeuo pipefail

fail() {
    echo "docker-entrypoint: $*" >&2
    exit 1
}

# "mariadbd --x=y", "mysqld --x=y" and "--x=y" start the server; anything else is run as it is.
if [ "${1:-}" = "" ] || [ "${1#-}" != "$1" ]; then
    set -- mariadbd "$@"
fi
case "$1" in
    mariadbd | mysqld) ;;
    *) exec "$@" ;;
esac
for word in "${@:2}"; do
    case "$word" in
        --help | -'?' | --version | -V | --print-defaults) exec "$@" ;;
    esac
done

# The server's own answer, because options come from files too.
option() {
    "${server[@]}" --verbose --help 2> /dev/null | sed -n "/^-----/,\$ s/^$1 *//p"
}
server=("$@")
data=$(option datadir)
[ -n "$data" ] || fail "the server does not take these options: $("$@" --verbose --help 2>&1 > /dev/null | tail -n 1)"
data=${data%/}

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$data"
    # Only what has another owner: a large data directory must not be walked for nothing.
    find "$data" /run/mysqld \! -user mysql -exec chown mysql:mysql {} +
    exec setpriv --reuid mysql --regid mysql --init-groups -- "$BASH_SOURCE" "$@"
fi

mkdir -p "$data" || fail "cannot make the data directory $data as uid $(id -u)"
[ -w "$data" ] || fail "the data directory $data is not writable for uid $(id -u)"

# An unfinished initialisation leaves this file behind. It is beside nothing of value: the server has
# never accepted a connection yet.
unfinished="$data/dbbench-initialising"
if [ -e "$unfinished" ]; then
    echo "docker-entrypoint: an earlier initialisation of $data did not finish: starting it again" >&2
    find "$data" -mindepth 1 -maxdepth 1 \! -name "${unfinished##*/}" -exec rm -rf {} +
elif [ -d "$data/mysql" ]; then
    exec "$@"
elif [ -n "$(find "$data" -mindepth 1 -maxdepth 1 \! -name lost+found -print -quit)" ]; then
    fail "$data is not empty and holds no database"
fi

# Puts into $value what either name of a variable holds, or the file that it names with _FILE; false
# where none of them is set.
given() {
    local name from=""
    value=""
    for name in "MARIADB_$1" "MYSQL_$1" "MARIADB_$1_FILE" "MYSQL_$1_FILE"; do
        [ -n "${!name+set}" ] || continue
        [ -z "$from" ] || fail "$from and $name are both set"
        from=$name
        case "$name" in
            *_FILE) value=$(cat "${!name}") || fail "cannot read the file that $name names" ;;
            *) value=${!name} ;;
        esac
    done
    case "$value" in *$'\n'*) fail "$from has a line break" ;; esac
    [ -n "$from" ]
}
# As SQL reads them, in its default mode.
text() {
    local escaped=${1//\\/\\\\}
    printf "'%s'" "${escaped//\'/\'\'}"
}
name() {
    printf '`%s`' "${1//\`/\`\`}"
}

given ROOT_PASSWORD || true
password=$value
if [ -z "$password" ] && ! given ALLOW_EMPTY_ROOT_PASSWORD; then
    fail "no password: set MARIADB_ROOT_PASSWORD or MARIADB_ROOT_PASSWORD_FILE (or MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1)"
fi
given ROOT_HOST || value=%
host=$value
given DATABASE || true
database=$value
given PASSWORD || true
user_password=$value
given USER || true
user=$value
[ -z "$user" ] || [ -n "$user_password" ] || fail "no password for $user: set MARIADB_PASSWORD or MARIADB_PASSWORD_FILE"

: > "$unfinished"
# --cross-bootstrap: no name server is asked for this machine's name. Its accounts are replaced below.
mariadb-install-db "${@:2}" --datadir="$data" --auth-root-authentication-method=normal \
    --skip-test-db --cross-bootstrap >&2

# A server that reads statements from its standard input and that nobody can connect to.
{
    echo "SET sql_mode = '', sql_log_bin = 0;"
    echo "DELETE FROM mysql.global_priv WHERE User IN ('root', '');"
    echo "FLUSH PRIVILEGES;"
    for from in localhost "$host"; do
        if [ -n "$from" ]; then
            account="'root'@$(text "$from")"
            echo "CREATE OR REPLACE USER $account IDENTIFIED BY $(text "$password");"
            echo "GRANT ALL ON *.* TO $account WITH GRANT OPTION;"
        fi
    done
    if [ -n "$database" ]; then
        echo "CREATE DATABASE IF NOT EXISTS $(name "$database");"
    fi
    if [ -n "$user" ]; then
        account="$(text "$user")@'%'"
        echo "CREATE USER $account IDENTIFIED BY $(text "$user_password");"
        if [ -n "$database" ]; then
            # _ and % are wildcards in the name of a database here.
            pattern=${database//_/\\_}
            echo "GRANT ALL ON $(name "${pattern//%/\\%}").* TO $account;"
        fi
    fi
} | "$@" --datadir="$data" --bootstrap --log-warnings=0
unset MARIADB_ROOT_PASSWORD MYSQL_ROOT_PASSWORD MARIADB_PASSWORD MYSQL_PASSWORD
sync "$data"
rm "$unfinished"

echo "docker-entrypoint: $data is initialised" >&2
exec "$@"
