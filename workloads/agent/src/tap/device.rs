//! The file of the kernel's tun driver, and an interface made with it (Documentation/networking/tuntap.rst).

use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::stat::{makedev, mknod, Mode, SFlag};

use crate::interfaces::request;

/// Of /dev/net/tun (Documentation/admin-guide/devices.txt).
const NUMBER: (u64, u64) = (10, 200);

/// Makes the device file, for this process's group as well; a node's own may be for root alone.
pub fn make_file(path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot make the device {}: {error}", path.display());
    let device = makedev(NUMBER.0, NUMBER.1);
    match mknod(path, SFlag::S_IFCHR, Mode::empty(), device) {
        Ok(()) => {}
        // From an earlier start of this container.
        Err(Errno::EEXIST) => {
            let found = fs::symlink_metadata(path).map_err(failed)?;
            if !found.file_type().is_char_device() || found.rdev() != device {
                return Err(failed(std::io::Error::other("there is another file")));
            }
        }
        Err(error) => return Err(failed(error.into())),
    }
    fs::set_permissions(path, Permissions::from_mode(0o660)).map_err(failed)
}

/// Makes an interface that stays, and that a process of this group may attach to.
pub fn make_interface(device: &Path, interface: &str) -> Result<(), String> {
    let file = attach(device, interface)?;
    let group = nix::unistd::getegid().as_raw();
    set(&file, libc::TUNSETGROUP as _, group)
        .and_then(|()| set(&file, libc::TUNSETPERSIST as _, 1))
        .map_err(|error| format!("cannot keep the interface {interface} for the group {group}: {error}"))
}

fn set(file: &File, call: libc::c_ulong, value: u32) -> Result<(), Errno> {
    // SAFETY: these calls take a number.
    Errno::result(unsafe { libc::ioctl(file.as_raw_fd(), call as _, libc::c_ulong::from(value)) }).map(|_| ())
}

/// Opens the device file as this interface, with room for what a card leaves to another (IFF_VNET_HDR).
pub fn attach(device: &Path, interface: &str) -> Result<File, String> {
    let file = File::options().read(true).write(true).open(device).map_err(|error| {
        let way_out = match error.kind() {
            ErrorKind::PermissionDenied => {
                "; the node's container runtime must allow containers the device c 10:200 (/dev/net/tun), \
                 as containerd and CRI-O do by default"
            }
            ErrorKind::NotFound => "; the init container network makes it",
            _ => "; the node's kernel must have the driver tun",
        };
        format!("cannot open {}: {error}{way_out}", device.display())
    })?;
    let mut request = request(interface);
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the call takes an ifreq.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request) };
    Errno::result(done).map_err(|error| format!("cannot attach to the interface {interface}: {error}"))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_in_its_place_is_not_taken_for_the_device() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tun");
        assert!(attach(&path, "tap0").unwrap_err().contains("the init container network makes it"));
        fs::write(&path, "").unwrap();
        assert!(make_file(&path).unwrap_err().contains("cannot make the device"));
        assert!(attach(&path, "tap0").unwrap_err().contains("cannot attach"));
    }
}
