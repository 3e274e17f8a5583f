//! Read-ahead: how much the kernel reads of a file before anybody asks for it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use nix::sys::stat::{major, minor};

use crate::launch::config::{DATA_DISK, ROOT_DISK};
use crate::mounts;

/// Kilobytes read ahead in a file system or on a block device, by its `major:minor`. None where no device is below it.
pub fn of_device(root: &Path, device: &str) -> Option<u64> {
    // A partition has no entry of its own: it is read like its disk, the directory above it in /sys.
    let files = [
        format!("sys/class/bdi/{device}/read_ahead_kb"),
        format!("sys/dev/block/{device}/../queue/read_ahead_kb"),
    ];
    files.iter().find_map(|file| fs::read_to_string(root.join(file)).ok()?.trim().parse().ok())
}

/// The same of a volume: a block device, or a directory on a file system.
pub fn of_volume(path: &Path) -> Option<u64> {
    let found = fs::metadata(path).ok()?;
    let device = if found.file_type().is_block_device() {
        format!("{}:{}", major(found.rdev()), minor(found.rdev()))
    } else {
        let mounts = mounts::of_this_process().ok()?;
        mounts::holding(&mounts, &fs::canonicalize(path).ok()?)?.device_number.clone()
    };
    of_device(Path::new("/"), &device)
}

/// Kilobytes for each disk of a guest, by its serial, as `of_volume` tells of the volumes that they are on.
///
/// A pod's files are read ahead like their volume, so the guest's must be too. `data` is the data disk's volume, the root
/// disk's when absent; `data_kb` holds whatever the volume has. What a volume does not tell is left out: the guest's
/// kernel then has its own idea.
pub fn of_disks(
    root: &Path,
    data: Option<&Path>,
    data_kb: Option<u64>,
    of_volume: impl Fn(&Path) -> Option<u64>,
) -> BTreeMap<String, u64> {
    let data_kb = data_kb.or_else(|| of_volume(data.unwrap_or(root)));
    let found = [(ROOT_DISK, of_volume(root)), (DATA_DISK, data_kb)].into_iter();
    found.filter_map(|(serial, kilobytes)| Some((serial.to_string(), kilobytes?))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_system_is_read_ahead_like_its_device_and_a_partition_like_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("sys/class/bdi/254:0/read_ahead_kb", "4096\n");
        file("sys/devices/nvme0n1/queue/read_ahead_kb", "128\n");
        file("sys/devices/nvme0n1/nvme0n1p1/partition", "1\n");
        fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
        symlink("../../devices/nvme0n1/nvme0n1p1", root.path().join("sys/dev/block/259:1")).unwrap();
        assert_eq!(of_device(root.path(), "254:0"), Some(4096));
        assert_eq!(of_device(root.path(), "259:1"), Some(128));
        assert_eq!(of_device(root.path(), "0:42"), None);
    }

    #[test]
    fn a_volume_without_a_device_has_none() {
        assert_eq!(of_volume(Path::new("/proc/self")), None);
        assert_eq!(of_volume(Path::new("/no/such/volume")), None);
    }

    #[test]
    fn disks_are_read_ahead_like_their_volumes_unless_told_otherwise() {
        let found = |data: Option<&str>, data_kb| {
            let of_volume = |path: &Path| match path.to_str().unwrap() {
                "/root" => Some(8192),
                "/data" => Some(4096),
                _ => None,
            };
            let found = of_disks(Path::new("/root"), data.map(Path::new), data_kb, of_volume);
            (found.get("root").copied(), found.get("data").copied())
        };
        assert_eq!(found(Some("/data"), None), (Some(8192), Some(4096)));
        assert_eq!(found(None, None), (Some(8192), Some(8192)));
        assert_eq!(found(Some("/data"), Some(0)), (Some(8192), Some(0)));
        assert_eq!(found(Some("/silent"), None), (Some(8192), None));
    }
}
