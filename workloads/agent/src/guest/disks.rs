//! Disks of the guest: found by serial, formatted when blank, mounted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::mount::{mount, MsFlags};

use super::say;
use crate::config::User;

/// Disks are there as soon as their driver is; under emulation that may take a moment.
const PATIENCE: Duration = Duration::from_secs(20);
/// A disk is blank when this much of its beginning is zero. mke2fs writes the superblock there last.
const BLANK: usize = 1 << 20;
/// The ext2, 3 and 4 superblock begins at 1024; its magic number is at offset 56.
const MAGIC: (usize, [u8; 2]) = (1024 + 56, [0x53, 0xef]);

/// In the initrd, and where an image may have it.
const MAKERS: [&str; 3] = ["/bin/mke2fs", "/sbin/mke2fs", "/usr/sbin/mke2fs"];

/// Waits for the disk with this serial and returns its device.
pub fn wait_for(serial: &str) -> Result<PathBuf, String> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(device) = find(serial) {
            return Ok(device);
        }
        if Instant::now() >= end {
            let known = serials(Path::new("/sys/block")).into_iter().map(|(_, serial)| serial);
            let known: Vec<String> = known.collect();
            return Err(format!("no disk with serial {serial} (there are: {})", known.join(", ")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the device of the disk with this serial.
pub fn find(serial: &str) -> Option<PathBuf> {
    let found = serials(Path::new("/sys/block")).into_iter().find(|(_, found)| found == serial);
    found.map(|(name, _)| Path::new("/dev").join(name)).filter(|device| device.exists())
}

/// Names and serials of the disks of both buses.
fn serials(block: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(block).into_iter().flatten().flatten();
    let mut found: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let serial = match name.get(..2)? {
                "vd" => fs::read_to_string(entry.path().join("serial")).ok()?,
                "sd" => unit_serial(&fs::read(entry.path().join("device/vpd_pg80")).ok()?)?,
                _ => return None,
            };
            Some((name, serial.trim().to_string()))
        })
        .collect();
    found.sort();
    found
}

/// The serial number in SCSI's vital product data page 0x80 (SPC-4, 7.8.18): after four bytes, of which the
/// last two are its length.
fn unit_serial(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    Some(String::from_utf8_lossy(page.get(4..4 + length)?).into_owned())
}

/// Reads ahead on the disks as the node does on their volumes; before the database opens a file, which keeps what held then.
/// A disk that this machine does not have is left out, as is one that refuses: the facts show what holds.
pub fn set_read_ahead(kilobytes: &BTreeMap<String, u64>) {
    let block = Path::new("/sys/block");
    for (name, serial) in serials(block) {
        let Some(wanted) = kilobytes.get(&serial) else { continue };
        if let Err(error) = fs::write(block.join(&name).join("queue/read_ahead_kb"), wanted.to_string()) {
            say(&format!("cannot read {wanted} KiB ahead on disk {serial}: {error}"));
        }
    }
}

/// Tells whether nothing has been written to the disk. A disk with something other than ext4 on it is an
/// error: it could be somebody's data.
pub fn is_blank(device: &Path) -> Result<bool, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", device.display());
    let mut start = Vec::with_capacity(BLANK);
    File::open(device).map_err(failed)?.take(BLANK as u64).read_to_end(&mut start).map_err(failed)?;
    if start.get(MAGIC.0..MAGIC.0 + 2) == Some(&MAGIC.1[..]) {
        return Ok(false);
    }
    if start.iter().all(|byte| *byte == 0) {
        return Ok(true);
    }
    Err("the data disk is neither blank nor ext4: it is left as it is".into())
}

/// Makes an ext4 file system, completely: the kernel must not go on with it during a measurement.
pub fn make_file_system(device: &Path) -> Result<(), String> {
    let program = MAKERS.into_iter().find(|program| Path::new(program).exists());
    let done = Command::new(program.ok_or("there is no mke2fs: install e2fsprogs in the disk's image")?)
        .args(["-q", "-F", "-t", "ext4", "-m", "0", "-L", "data"])
        .args(["-E", "lazy_itable_init=0,lazy_journal_init=0"])
        .arg(device)
        .output()
        .map_err(|error| format!("cannot start mke2fs: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).trim().replace('\n', "; ");
    Err(format!("mke2fs on the data disk failed ({}): {said}", done.status))
}

/// Mounts the data disk; its top directory belongs to the database's user.
pub fn mount_data(device: &Path, point: &Path, user: Option<User>) -> Result<(), String> {
    make_directory(point)?;
    mount(Some(device), point, Some("ext4"), MsFlags::MS_RELATIME, None::<&str>)
        .map_err(|error| format!("cannot mount the data disk: {error}"))?;
    give_to(point, user)
}

/// Mounts a tmpfs in place of the data disk.
pub fn mount_memory(bytes: u64, point: &Path, user: Option<User>) -> Result<(), String> {
    make_directory(point)?;
    let options = format!("size={bytes},mode=0755");
    mount(Some("tmpfs"), point, Some("tmpfs"), MsFlags::MS_RELATIME, Some(options.as_str()))
        .map_err(|error| format!("cannot mount memory for the data: {error}"))?;
    give_to(point, user)
}

fn give_to(point: &Path, user: Option<User>) -> Result<(), String> {
    if let Some(user) = user {
        chown(point, Some(user.uid), Some(user.gid))
            .map_err(|error| format!("cannot chown {}: {error}", point.display()))?;
    }
    Ok(())
}

/// Mounts an ISO 9660 disk, readable for everybody.
pub fn mount_iso(device: &Path, point: &Path) -> Result<(), String> {
    make_directory(point)?;
    let flags = MsFlags::MS_RDONLY | MsFlags::MS_NODEV | MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some(device), point, Some("iso9660"), flags, None::<&str>).map_err(|error| {
        format!("cannot mount {} as ISO 9660 at {}: {error}", device.display(), point.display())
    })
}

/// Makes a directory where the image has none.
pub fn make_directory(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| format!("cannot make {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scsi_disk_has_its_serial_in_a_page_of_its_own() {
        let block = tempfile::tempdir().unwrap();
        fs::create_dir_all(block.path().join("sda/device")).unwrap();
        fs::write(block.path().join("sda/device/vpd_pg80"), b"\0\x80\0\x04data").unwrap();
        assert_eq!(serials(block.path()), [("sda".to_string(), "data".to_string())]);
        assert_eq!(unit_serial(b"\0\x80\0\x09data"), None);
    }

    #[test]
    fn only_virtio_disks_with_a_serial_are_known() {
        let block = tempfile::tempdir().unwrap();
        for (name, serial) in
            [("vda", Some("root\n")), ("vdb", Some("")), ("sr0", Some("config")), ("vdc", None)]
        {
            fs::create_dir(block.path().join(name)).unwrap();
            if let Some(serial) = serial {
                fs::write(block.path().join(name).join("serial"), serial).unwrap();
            }
        }
        let expected = [("vda".to_string(), "root".to_string()), ("vdb".to_string(), String::new())];
        assert_eq!(serials(block.path()), expected);
    }

    #[test]
    fn only_an_empty_disk_is_blank() {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path().join("disk");
        fs::write(&disk, vec![0; 2 * BLANK]).unwrap();
        assert_eq!(is_blank(&disk), Ok(true));
        let mut content = vec![0; 2 * BLANK];
        content[MAGIC.0..MAGIC.0 + 2].copy_from_slice(&MAGIC.1);
        fs::write(&disk, &content).unwrap();
        assert_eq!(is_blank(&disk), Ok(false));
        content[0] = 1;
        content[MAGIC.0] = 0;
        fs::write(&disk, &content).unwrap();
        assert!(is_blank(&disk).unwrap_err().contains("neither blank nor ext4"));
    }
}
