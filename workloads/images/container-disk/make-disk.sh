#!/bin/sh
# Writes the files below ROOT as the one partition of a disk that a BIOS boots with GRUB: make-disk.sh ROOT DISK.
# No loop device and no mount: it works wherever files can be written.
set -eu
root=$1 disk=$2
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends e2fsprogs fdisk grub-common grub-pc-bin qemu-utils
mkdir -p "$(dirname "$disk")"
cd "$(mktemp -d)"

# Mount points that a container runtime has filled.
for directory in proc sys dev run tmp; do
    find "$root/$directory" -xdev -mindepth 1 -delete
done
: > "$root/etc/hostname"
rm -f "$root/etc/resolv.conf"

# GRUB 2.06 does not read the newest features of ext4.
mke2fs -q -t ext4 -O ^metadata_csum_seed,^orphan_file -L root -d "$root" partition 2G
truncate -s 2050M raw
echo 'start=2048, type=83, bootable' | sfdisk --quiet --label dos raw
dd if=partition of=raw bs=1M seek=1 conv=notrunc,sparse status=none

# The boot sector looks for the rest of GRUB in the sector behind it; code alone, for the table of partitions is there.
modules=/usr/lib/grub/i386-pc
grub-mkimage --format=i386-pc --directory=$modules --prefix='(hd0,msdos1)/boot/grub' --output=core.img \
    biosdisk part_msdos ext2 linux normal configfile
test "$(stat -c %s core.img)" -le $((2047 * 512))
dd if=$modules/boot.img of=raw bs=440 count=1 conv=notrunc status=none
dd if=core.img of=raw bs=512 seek=1 conv=notrunc status=none

qemu-img convert -O qcow2 raw "$disk"
ls -l "$disk"
