#!/bin/sh
# Installs MariaDB into the image and removes what a running server does not need.
set -eu
export DEBIAN_FRONTEND=noninteractive

# The ids are the official image's, so that volumes can move between the two.
groupadd --system --gid 999 mysql
useradd --system --uid 999 --gid 999 --home-dir /var/lib/mysql --shell /bin/sh mysql

apt-get update -q
# The server's programs alone: mariadb-server would bring a service, its own configuration and Perl.
apt-get install -y -q --no-install-recommends mariadb-server-core mariadb-client-core

install -d -o mysql -g mysql -m 0700 /var/lib/mysql
install -d -o mysql -g mysql -m 1777 /run/mysqld
chmod 0755 /usr/local/bin/docker-entrypoint.sh

# What exactly is in here: Debian's archive keeps only the newest point versions, so they cannot be pinned.
mkdir -p /usr/share/dbbench
dpkg-query -W -f '${Package}=${Version}\n' > /usr/share/dbbench/packages
apt-get clean
rm -rf /build /usr/share/doc /usr/share/man /usr/share/info /usr/share/lintian \
    /var/log/apt /var/log/dpkg.log /var/log/alternatives.log /var/cache/debconf/*-old \
    /var/lib/dpkg/*-old /var/cache/ldconfig/aux-cache
