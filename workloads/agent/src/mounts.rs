//! /proc/self/mountinfo (proc(5)).

use std::path::{Path, PathBuf};

/// One mount of this mount namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Directory of the file system that is mounted, as seen from its own root.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Options of the mount and of the file system, comma separated, without repetition.
    pub options: String,
    pub fstype: String,
    pub device: String,
    /// `major:minor` of the file system.
    pub device_number: String,
    /// Options of the file system alone.
    pub super_options: String,
}

/// Returns the mounts of this process, in the order they were made.
pub fn of_this_process() -> std::io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read_to_string("/proc/self/mountinfo")?))
}

/// Reads the text of a mountinfo file; lines of an unknown form are left out.
pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// Returns the mount that holds `path`: the deepest one, and the last of several at one place.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .enumerate()
        .filter(|(_, mount)| path.starts_with(&mount.point))
        .max_by_key(|(index, mount)| (mount.point.components().count(), *index))
        .map(|(_, mount)| mount)
}

fn parse_line(line: &str) -> Option<Mount> {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    let (mount, file_system) = line.split_once(" - ")?;
    let mount: Vec<&str> = mount.split(' ').collect();
    let file_system: Vec<&str> = file_system.split(' ').collect();
    let (own, shared) = (*mount.get(5)?, *file_system.get(2)?);
    let mut options: Vec<&str> = own.split(',').collect();
    for option in shared.split(',') {
        // A read-only mount of a writable file system is read-only, whatever the file system says.
        if !options.contains(&option) && option != "rw" && option != "ro" {
            options.push(option);
        }
    }
    Some(Mount {
        root: unescape(mount.get(3)?),
        point: unescape(mount.get(4)?),
        options: options.join(","),
        fstype: file_system.first()?.to_string(),
        device: file_system.get(1)?.to_string(),
        device_number: mount.get(2)?.to_string(),
        super_options: shared.to_string(),
    })
}

/// Space, tab, newline and backslash are written as octal escapes.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| *first == b'\\');
        match octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
21 1 0:20 / / rw,relatime - overlay overlay rw,lowerdir=/a
22 21 0:21 / /proc rw,nosuid - proc proc rw
30 21 254:0 /pv/one /dbbench/data ro,relatime shared:3 - ext4 /dev/vda rw,errors=remount-ro
31 21 254:0 /two\\040words /mnt/a\\040b rw - ext4 /dev/vda rw
";

    #[test]
    fn a_path_belongs_to_its_deepest_mount() {
        let mounts = parse(TEXT);
        let found = |path: &str| holding(&mounts, Path::new(path)).unwrap().fstype.clone();
        assert_eq!(found("/dbbench/data/pgdata"), "ext4");
        assert_eq!(found("/dbbench/database"), "overlay");
        assert_eq!(found("/proc/1"), "proc");
    }

    #[test]
    fn options_of_mount_and_file_system_are_joined() {
        let mounts = parse(TEXT);
        assert_eq!(mounts[2].options, "ro,relatime,errors=remount-ro");
        assert_eq!((mounts[2].device.as_str(), mounts[2].device_number.as_str()), ("/dev/vda", "254:0"));
    }

    #[test]
    fn escaped_names_are_read() {
        let mount = &parse(TEXT)[3];
        assert_eq!(mount.root, Path::new("/two words"));
        assert_eq!(mount.point, Path::new("/mnt/a b"));
    }
}
