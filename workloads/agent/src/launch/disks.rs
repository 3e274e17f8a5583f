//! The files that a machine is made of, checked before QEMU's less helpful messages.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::config::{Disk, Format, LauncherConfig};

/// How a QCOW2 file begins (QEMU, docs/interop/qcow2.txt).
const QCOW2: &[u8] = b"QFI\xfb";

/// Checks kernel, initrd and disks, and makes the disks that are to be made.
pub fn prepare(config: &mut LauncherConfig) -> Result<(), String> {
    for (what, file) in [("kernel", &config.kernel), ("initrd", &config.initrd)] {
        file.as_ref().map_or(Ok(()), |file| readable(what, file))?;
    }
    for disk in &mut config.disks {
        if disk.container_disk {
            (disk.file, disk.format) = container_disk(disk)?;
        }
        prepare_disk(disk)?;
    }
    Ok(())
}

/// The file of a container disk, and what it holds.
fn container_disk(disk: &Disk) -> Result<(PathBuf, Format), String> {
    let failed =
        |error: &dyn std::fmt::Display| format!("disk {:?}, {}: {error}", disk.serial, disk.file.display());
    let file = if disk.file.is_dir() {
        let entries = fs::read_dir(&disk.file).map_err(|error| failed(&error))?;
        let mut files: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        match (files.len(), files.pop()) {
            (1, Some(file)) => file,
            (count, _) => {
                return Err(failed(&format!("a container disk is one file, and there are {count}")))
            }
        }
    } else {
        disk.file.clone()
    };
    let mut magic = Vec::new();
    fs::File::open(&file)
        .and_then(|opened| opened.take(QCOW2.len() as u64).read_to_end(&mut magic))
        .map_err(|error| failed(&error))?;
    Ok((file, if magic == QCOW2 { Format::Qcow2 } else { Format::Raw }))
}

fn readable(what: &str, file: &Path) -> Result<(), String> {
    fs::File::open(file).map(|_| ()).map_err(|error| format!("{what} {}: {error}", file.display()))
}

fn prepare_disk(disk: &Disk) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("disk {:?}, {}: {error}", disk.serial, disk.file.display());
    match OpenOptions::new().read(true).write(true).open(&disk.file) {
        Ok(_) if disk.device => {
            let kind = fs::metadata(&disk.file).map_err(failed)?.file_type();
            kind.is_block_device()
                .then_some(())
                .ok_or_else(|| failed(std::io::Error::other("no block device")))
        }
        Ok(_) => Ok(()),
        Err(error) if disk.device && error.kind() == std::io::ErrorKind::PermissionDenied => Err(format!(
            "{}; the node's container runtime must give devices to the container's user \
             (device_ownership_from_security_context in containerd)",
            failed(error)
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let size = disk.size_bytes.ok_or_else(|| failed(error))?;
            // Under another name first: a disk that exists has its full size.
            let partial = disk.file.with_extension("partial");
            let file = fs::File::create(&partial).map_err(failed)?;
            file.set_len(size).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            fs::rename(&partial, &disk.file).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::launch::config::{Bus, Cache, Io};

    fn disk(file: &Path, size_bytes: Option<u64>) -> Disk {
        Disk {
            serial: "data".into(),
            file: file.into(),
            size_bytes,
            device: false,
            container_disk: false,
            format: Format::Raw,
            bus: Bus::Virtio,
            cache: Cache::WriteBack,
            io: Io::Threads,
            dedicated_io_thread: false,
        }
    }

    #[test]
    fn a_missing_disk_is_made_sparse_and_an_existing_one_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("disk.img");
        prepare_disk(&disk(&file, Some(1 << 30))).unwrap();
        let made = fs::metadata(&file).unwrap();
        assert_eq!(made.len(), 1 << 30);
        assert!(made.blocks() < 100);
        fs::write(&file, "content").unwrap();
        prepare_disk(&disk(&file, Some(1 << 30))).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "content");
    }

    #[test]
    fn a_missing_disk_without_a_size_is_named() {
        let error = prepare_disk(&disk(Path::new("/no/disk.img"), None)).unwrap_err();
        assert!(error.contains("\"data\", /no/disk.img"), "{error}");
    }

    #[test]
    fn a_device_must_be_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let device = Disk { device: true, ..disk(file.path(), None) };
        assert!(prepare_disk(&device).unwrap_err().contains("no block device"));
        let missing = Disk { device: true, ..disk(Path::new("/no/device"), None) };
        assert!(prepare_disk(&missing).unwrap_err().contains("\"data\", /no/device"));
    }

    #[test]
    fn a_container_disk_is_one_file_in_either_format() {
        let directory = tempfile::tempdir().unwrap();
        let found = || container_disk(&Disk { container_disk: true, ..disk(directory.path(), None) });
        assert!(found().unwrap_err().contains("there are 0"));
        let file = directory.path().join("debian.img");
        fs::write(&file, b"QFI").unwrap();
        assert_eq!(found(), Ok((file.clone(), Format::Raw)));
        fs::write(&file, b"QFI\xfb\0\0\0\x03").unwrap();
        let itself = Disk { container_disk: true, ..disk(&file, None) };
        assert_eq!(container_disk(&itself), Ok((file.clone(), Format::Qcow2)));
        assert_eq!(found(), Ok((file, Format::Qcow2)));
        fs::write(directory.path().join("other"), "").unwrap();
        assert!(found().unwrap_err().contains("there are 2"));
    }

    #[test]
    fn a_missing_kernel_is_named() {
        assert!(readable("kernel", Path::new("/no/vmlinuz")).unwrap_err().starts_with("kernel /no/vmlinuz"));
    }
}
