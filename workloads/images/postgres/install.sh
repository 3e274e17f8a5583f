#!/bin/sh
# Installs PostgreSQL into the image and removes what a running server does not need.
set -eu
export DEBIAN_FRONTEND=noninteractive

# The ids are the official image's, so that volumes can move between the two.
groupadd --system --gid 999 postgres
useradd --system --uid 999 --gid 999 --home-dir /var/lib/postgresql --shell /bin/sh postgres

apt-get update -q
# The package would otherwise initialise a cluster of its own while it is installed.
mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf
apt-get install -y -q --no-install-recommends postgresql-15 libnss-wrapper

install -d -o postgres -g postgres -m 0700 /var/lib/postgresql/data
install -d -o postgres -g postgres -m 1777 /var/run/postgresql
chmod 0755 /usr/local/bin/docker-entrypoint.sh

# Reachable from other containers unless the configuration says otherwise.
sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" /usr/share/postgresql/15/postgresql.conf.sample
grep -q "^listen_addresses = '\*'" /usr/share/postgresql/15/postgresql.conf.sample

# What exactly is in here: Debian's archive keeps only the newest point versions, so they cannot be pinned.
mkdir -p /usr/share/dbbench
dpkg-query -W -f '${Package}=${Version}\n' > /usr/share/dbbench/packages
apt-get clean
rm -rf /build /usr/share/doc /usr/share/man /usr/share/info /usr/share/lintian \
    /var/log/apt /var/log/dpkg.log /var/log/alternatives.log /var/log/postgresql /var/cache/debconf/*-old \
    /var/lib/dpkg/*-old /var/cache/ldconfig/aux-cache /etc/ssl/private/ssl-cert-snakeoil.key
