#!/bin/sh
# The Python of the operator, without pip and what else a running program does not need.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends python3.11-minimal libpython3.11-stdlib ca-certificates
ln -s python3.11 /usr/bin/python3
echo 'nonroot:x:65532:65532:nonroot:/:/usr/sbin/nologin' >> /etc/passwd
echo 'nonroot:x:65532:' >> /etc/group
mkdir -p /usr/share/dbbench
dpkg-query -W -f '${Package}=${Version}\n' > /usr/share/dbbench/packages
rm -rf /build /usr/share/doc /usr/share/man /usr/share/info /usr/share/lintian \
    /var/log/apt /var/log/dpkg.log /var/log/alternatives.log /var/cache/debconf/*-old \
    /var/lib/dpkg/*-old /var/cache/ldconfig/aux-cache
# Bytecode of the standard library that does not depend on file times.
python3.11 -m compileall -q --invalidation-mode unchecked-hash /usr/lib/python3.11
