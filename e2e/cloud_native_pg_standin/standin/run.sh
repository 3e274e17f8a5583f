# Runs the server of an instance with the settings of CUSTOM_CONF. Asked to end, it waits
# SMART_SHUTDOWN_SECONDS for clients, and then disconnects them.
set -eu
umask 077
# A volume is given to its pod's group; the server insists that it is the user's alone.
chmod 0700 "$PGDATA"
mkdir -p "$PGHOST"
printf '%s' "$CUSTOM_CONF" > "$PGDATA/custom.conf"
# For the connection of a standby to its primary.
PGPASSWORD=$(cat "$PASSWORD_FILE")
export PGPASSWORD

stopping=
stop() {
    stopping=yes
    pg_ctl stop --silent --mode=smart --timeout="$SMART_SHUTDOWN_SECONDS" ||
        pg_ctl stop --silent --mode=fast --timeout="$STOP_SECONDS"
}
trap stop INT TERM

postgres &
server=$!
code=0
wait "$server" || code=$?
if [ -n "$stopping" ]; then
    # That was the signal; the server's own end comes now.
    code=0
    wait "$server" || code=$?
fi
exit "$code"
