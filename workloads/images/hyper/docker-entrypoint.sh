#!/bin/bash
# Starts hyperd in this image.
#
#   HYPER_USER           the one user, owner of all databases (hyper); with --config, the file names it
#   HYPER_PASSWORD       its password, or
#   HYPER_PASSWORD_FILE  a file that holds it
#   HYPER_DATA           working folder of the server, for databases that are named without a path
#
# Databases are files, made by CREATE DATABASE; users and passwords are in none of them: both are
# given anew at each start. Runs as root, and then drops to the user hyper, or as any other user.
set -Eeuo pipefail

fail() {
    echo "docker-entrypoint: $*" >&2
    exit 1
}

# "hyperd --x=y" and "--x=y" start the server; anything else is run as it is.
if [ "${1:-}" = "" ] || [ "${1#-}" != "$1" ]; then
    set -- hyperd "$@"
fi
[ "$1" = hyperd ] || exec "$@"
[ "${2:-}" != run ] || set -- hyperd "${@:3}"
for word in "${@:2}"; do
    case "$word" in
        --help | -h | --version | --settings | --capabilities | config-validate | scram-sha256-hash | shell | validate)
            exec "$@"
            ;;
    esac
done

: "${HYPER_DATA:=/var/lib/hyper}"
export HYPER_DATA
temporary="$HYPER_DATA/temporary"

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$HYPER_DATA"
    # Only what has another owner: a large data directory must not be walked for nothing.
    find "$HYPER_DATA" \! -user hyper -exec chown hyper:hyper {} +
    exec setpriv --reuid hyper --regid hyper --init-groups -- "$BASH_SOURCE" "$@"
fi

mkdir -p "$temporary" || fail "cannot make $temporary as uid $(id -u)"
[ -w "$HYPER_DATA" ] || fail "the data directory $HYPER_DATA is not writable for uid $(id -u)"
# What a server that was killed has left there, nobody reads any more.
find "$temporary" -mindepth 1 -delete

password=${HYPER_PASSWORD:-}
if [ -n "${HYPER_PASSWORD_FILE:-}" ]; then
    [ -z "$password" ] || fail "HYPER_PASSWORD and HYPER_PASSWORD_FILE are both set"
    password=$(cat "$HYPER_PASSWORD_FILE") || fail "cannot read HYPER_PASSWORD_FILE"
fi
unset HYPER_PASSWORD
[ -n "$password" ] || fail "no password: set HYPER_PASSWORD or HYPER_PASSWORD_FILE"
case "$password" in *$'\n'*) fail "the password has a line break" ;; esac

options=(--skip-license)
case " ${*:2}" in
    # Whoever has a configuration says there where to listen, and the rest.
    *" --config"*) ;;
    *)
        options+=("--listen-connection=tab.tcp://0.0.0.0:7483" "--init-user=${HYPER_USER:-hyper}")
        options+=("--log-config=cerr,string,error" "--hyper-temp-directory-override=$temporary")
        ;;
esac
# Databases that are named without a path are in the working folder.
cd "$HYPER_DATA"
# The server asks for the password twice. Neither its command line nor its environment has it.
exec hyperd run "${options[@]}" "${@:2}" <<< "$password"$'\n'"$password"
