#!/bin/sh
# Makes the user of the server, and notes what is in the image. Debian's own packages suffice.
set -eu

# The ids that the images of other databases have, too.
groupadd --system --gid 999 hyper
useradd --system --uid 999 --gid 999 --home-dir /var/lib/hyper --shell /bin/sh hyper

install -d -o hyper -g hyper -m 0700 /var/lib/hyper
chmod 0755 /usr/local/bin/docker-entrypoint.sh /usr/local/bin/hyperd
chmod 0644 /usr/share/dbbench/hyper/*
# Fails when a library is missing.
hyperd --version

dpkg-query -W -f '${Package}=${Version}\n' > /usr/share/dbbench/packages
rm -rf /build /usr/share/doc /usr/share/man /usr/share/info /usr/share/lintian \
    /var/log/apt /var/log/dpkg.log /var/log/alternatives.log /var/cache/debconf/*-old \
    /var/lib/dpkg/*-old /var/cache/ldconfig/aux-cache
