#!/bin/sh
# Installs what a machine of its own needs, and PostgreSQL, as on any Debian.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q

# No database of the package's own: its server would have the port.
mkdir -p /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf
apt-get install -y -q --no-install-recommends \
    systemd-sysv dbus udev iproute2 e2fsprogs linux-image-cloud-amd64 initramfs-tools \
    cloud-init postgresql-15

# The one source of data that KubeVirt gives, so that no other one is looked for.
echo 'datasource_list: [NoCloud, None]' > /etc/cloud/cloud.cfg.d/90-kubevirt.cfg
# cloud-init writes its configuration: DHCP on the first interface.
systemctl enable systemd-networkd.service
echo 'LABEL=root / ext4 defaults 0 1' > /etc/fstab
# The locale of the image postgres.
echo 'LANG=C.UTF-8' > /etc/default/locale
: > /etc/machine-id

mkdir -p /boot/grub
cat > /boot/grub/grub.cfg <<CONFIG
linux /boot/$(basename /boot/vmlinuz-*) root=LABEL=root rw console=ttyS0 net.ifnames=0
initrd /boot/$(basename /boot/initrd.img-*)
boot
CONFIG

apt-get clean
rm -rf /build /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /usr/share/lintian \
    /var/log/apt /var/log/dpkg.log /var/log/alternatives.log /var/log/postgresql/* /var/cache/debconf/*-old
