#!/bin/sh
# Adds to a root with QEMU the tools that run inside a database image by their own loader: see `agent pack-root`.
set -eu
root=$1
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -q --no-install-recommends tar e2fsprogs libarchive13t64 passwd

libraries() {
    ldd "$@" | sed -nE 's/^\s*(\S+ => )?(\/\S+) \(0x.*/\2/p' | sort -u
}

tools=$root/opt/guest-tools
mkdir -p "$tools/bin" "$tools/lib"
cp /usr/bin/tar /usr/sbin/mke2fs "$tools/bin"
# mke2fs loads libarchive at run time, so ldd on mke2fs does not show it.
archive=/usr/lib/x86_64-linux-gnu/libarchive.so.13
cp --dereference "$archive" $(libraries /usr/bin/tar /usr/sbin/mke2fs "$archive") "$tools/lib"
cp /etc/mke2fs.conf "$tools"
test -e "$tools/lib/ld-linux-x86-64.so.2"

dpkg-query -W -f '${Package}=${Version}\n' > "$root/usr/share/dbbench/packages"
for package in tar e2fsprogs libarchive13t64; do
    mkdir -p "$root/usr/share/doc/$package"
    cp --dereference "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/" || true
done
