#!/bin/sh
# Usage: collect.sh ROOT [PACKAGE]
# Makes ROOT/boot/vmlinuz and ROOT/boot/initrd from Debian's cloud kernel and the agent, and ROOT/disk/agent.iso.
set -eu
root=$1
package=${2:-linux-image-cloud-amd64}
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends cpio kmod xz-utils e2fsprogs xorriso

# Unpacked, not installed: the package's scripts would build an initrd for this container.
kernel=$(apt-cache depends "$package" | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
cd /build
apt-get install -y -q --no-install-recommends --download-only --reinstall "$kernel"
archive=$(ls "/var/cache/apt/archives/${kernel}"_*.deb | sort -V | tail -n 1)
dpkg-deb --extract "$archive" kernel
version=$(basename kernel/lib/modules/*)
depmod --basedir /build/kernel "$version"

initrd=/build/initrd
mkdir -p "$initrd/bin" "$initrd/dev" "$initrd/etc" "$initrd/lib" "$initrd/lib64" "$initrd/modules" "$initrd/proc" "$initrd/sys"
install -m 0755 /build/init "$initrd/init"

# `modprobe --show-depends` prints what is to be loaded, in order, and `builtin` lines.
sed 's/#.*//' /build/modules | while read -r module; do
    [ -n "$module" ] || continue
    modprobe --dirname /build/kernel --set-version "$version" --show-depends "$module"
done | sed -n 's/^insmod \(\S*\).*/\1/p' | awk '!seen[$0]++' > /build/order
: > "$initrd/modules/order"
while read -r file; do
    name=$(basename "$file")
    name=${name%.xz}
    case $file in
        *.xz) xz --decompress --stdout "$file" > "$initrd/modules/$name" ;;
        *) cp "$file" "$initrd/modules/$name" ;;
    esac
    echo "$name" >> "$initrd/modules/order"
done < /build/order
grep -q '^virtio_blk.ko$' "$initrd/modules/order"
grep -q '^virtio_net.ko$' "$initrd/modules/order"

# mke2fs for a blank data disk, with its libraries.
cp /sbin/mke2fs "$initrd/bin/mke2fs"
cp /etc/mke2fs.conf "$initrd/etc/mke2fs.conf"
for file in $(ldd /sbin/mke2fs | sed -nE 's/^\s*(\S+ => )?(\/\S+) \(0x.*/\2/p'); do
    case $file in
        /lib64/*) cp --dereference "$file" "$initrd/lib64/" ;;
        *) cp --dereference "$file" "$initrd/lib/" ;;
    esac
done

mkdir -p "$root/boot"
cp "kernel/boot/vmlinuz-$version" "$root/boot/vmlinuz"
echo "$version" > "$root/boot/version"
# Equal inputs give an equal archive: sorted names, no inode numbers, one time for all files.
find "$initrd" -exec touch --no-dereference --date=@0 {} +
cd "$initrd"
find . -mindepth 1 -print0 | LC_ALL=C sort -z |
    cpio --null --create --format=newc --owner=+0:+0 --reproducible --quiet | gzip -9n > "$root/boot/initrd"

agent=/build/agent
mkdir -p "$agent" "$root/disk"
install -m 0555 /build/init "$agent/dbbench-driver"
install -m 0555 /build/docker-entrypoint.sh "$agent/docker-entrypoint.sh"
find "$agent" -exec touch --date=@0 {} +
SOURCE_DATE_EPOCH=0 xorrisofs -quiet -rational-rock -volid DBBENCH -output "$root/disk/agent.iso" "$agent"
# The kernel is unpacked only, so dpkg does not know it.
mkdir -p "$root/usr/share/dbbench"
{
    echo "$kernel=$(dpkg-deb --field "$archive" Version)"
    dpkg-query -W -f '${Package}=${Version}\n' e2fsprogs libblkid1 libc6 libcom-err2 libext2fs2 libss2 libuuid1
} > "$root/usr/share/dbbench/packages"
ls -l "$root/boot" "$root/disk" "$initrd/modules"
