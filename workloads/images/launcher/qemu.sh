#!/bin/sh
# Collects into a new root just QEMU, what makes a configuration disk, their libraries and their firmware.
set -eu
root=$1
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends qemu-system-x86 seabios genisoimage

libraries() {
    # Also the loader, which ldd prints without an arrow.
    ldd "$@" | sed -nE 's/^\s*(\S+ => )?(\/\S+) \(0x.*/\2/p' | sort -u
}

for directory in usr/bin usr/lib usr/lib64 usr/share/qemu usr/share/seabios etc opt tmp run dev proc sys; do
    mkdir -p "$root/$directory"
done
chmod 1777 "$root/tmp"
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"

programs="/usr/bin/qemu-system-x86_64 /usr/bin/genisoimage"
# Before Debian 13, software emulation is a module of QEMU's.
for module in /usr/lib/x86_64-linux-gnu/qemu/accel-*.so; do
    [ ! -e "$module" ] || programs="$programs $module"
done
for file in $programs $(libraries $programs); do
    cp --dereference --parents "$file" "$root"
done

# Firmware of the two machine types (q35, microvm) and the loaders of a kernel given on the command line.
for file in seabios/bios-256k.bin seabios/bios-microvm.bin qemu/kvmvapic.bin \
    qemu/linuxboot.bin qemu/linuxboot_dma.bin qemu/pvh.bin; do
    cp --dereference "/usr/share/$file" "$root/usr/share/$file"
done

echo 'root:x:0:0:root:/:/sbin/nologin' > "$root/etc/passwd"
echo 'qemu:x:107:107:qemu:/:/sbin/nologin' >> "$root/etc/passwd"
printf 'root:x:0:\nqemu:x:107:\n' > "$root/etc/group"
mkdir -p "$root/usr/share/dbbench"
dpkg-query -W -f '${Package}=${Version}\n' > "$root/usr/share/dbbench/packages"
for package in qemu-system-x86 seabios genisoimage libc6; do
    mkdir -p "$root/usr/share/doc/$package"
    cp --dereference "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/" || true
done
# What a guest needs is there: a machine is made, and stopped before it runs anything.
for machine in q35 microvm; do
    echo quit | chroot "$root" /usr/bin/qemu-system-x86_64 -accel tcg -machine "$machine" \
        -nodefaults -display none -S -monitor stdio
done
