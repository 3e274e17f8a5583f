# Makes the data directory of a cluster's first instance, with its roles and the database APP_DATABASE
# of APP_OWNER. Arguments: statements that a superuser runs in that database.
set -eu
umask 077

# An earlier pod of this job was ended between its last two steps.
[ ! -e "$PGDATA/PG_VERSION" ] || exit 0
fresh=$PGDATA.new
rm -rf "$fresh"
mkdir -p "$PGHOST"

initdb --pgdata="$fresh" --username=postgres --auth-local=trust --auth-host=scram-sha-256 \
    --encoding=UTF8 --lc-collate=C --lc-ctype=C
cat > "$fresh/pg_hba.conf" <<'HBA'
# The socket is in a volume of the pod's own.
local all all trust
host all all all scram-sha-256
host replication streaming_replica all scram-sha-256
HBA
: > "$fresh/custom.conf"
echo "include 'custom.conf'" >> "$fresh/postgresql.conf"

sql() {
    psql --username=postgres --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"
}
server() {
    pg_ctl --pgdata="$fresh" --silent --wait "$@"
}
server -o "-c listen_addresses='' -c unix_socket_directories='$PGHOST'" start
sql --dbname=postgres --set=owner="$APP_OWNER" --set=database="$APP_DATABASE" <<'SQL'
\set password `cat "$PASSWORD_FILE"`
CREATE ROLE streaming_replica LOGIN REPLICATION PASSWORD :'password';
CREATE ROLE :"owner" LOGIN PASSWORD :'password';
CREATE DATABASE :"database" OWNER :"owner";
SQL
for statement in "$@"; do
    sql --dbname="$APP_DATABASE" --command="$statement"
done
server --mode=fast stop
mv "$fresh" "$PGDATA"
sync
