# Copies the primary's data directory: a standby, once a server starts in it.
set -eu
umask 077

# An earlier pod of this job was ended between its last two steps.
[ ! -e "$PGDATA/PG_VERSION" ] || exit 0
fresh=$PGDATA.new
rm -rf "$fresh"
PGPASSWORD=$(cat "$PASSWORD_FILE")
export PGPASSWORD
pg_basebackup --pgdata="$fresh" --wal-method=stream --checkpoint=fast --no-password \
    --host="$PRIMARY" --username=streaming_replica
: > "$fresh/standby.signal"
mv "$fresh" "$PGDATA"
sync
