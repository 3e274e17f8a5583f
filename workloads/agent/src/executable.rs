//! The program of the running server and the shared objects that it has mapped, by their checksums.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The program of the running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Executable {
    pub path: PathBuf,
    pub sha256: String,
}

/// The shared objects of which the server has mapped code, in the order of their paths.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Libraries {
    /// Of the list, in the form in which sha256sum(1) prints it. None where one of the files could not be read.
    pub sha256: Option<String>,
    pub files: Vec<Library>,
}

/// One shared object, by its path in the server's container or guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Library {
    pub path: PathBuf,
    /// None where the file is gone, or may not be read.
    pub sha256: Option<String>,
}

/// Device, inode and time of change of a file.
type Identity = (u64, u64, i64);

/// Hashes each file once: they are many megabytes, and facts are asked for before each trial.
#[derive(Debug, Default)]
pub struct Hashes(Mutex<BTreeMap<Identity, String>>);

impl Hashes {
    /// The program of the process with this directory below /proc.
    pub fn executable(&self, process: &Path) -> Option<Executable> {
        let link = process.join("exe");
        // Through the link: right even when the file was replaced while its program runs.
        Some(Executable { path: std::fs::read_link(&link).ok()?, sha256: self.of(&link)? })
    }

    /// The shared objects of that process. None without the right to know.
    pub fn libraries(&self, process: &Path) -> Option<Libraries> {
        let program = std::fs::read_link(process.join("exe")).ok()?;
        let maps = std::fs::read_to_string(process.join("maps")).ok()?;
        let root = process.join("root");
        let files: Vec<Library> = mapped_code(&maps)
            .into_iter()
            .filter(|path| *path != program)
            .map(|path| {
                let sha256 = path.strip_prefix("/").ok().and_then(|inside| self.of(&root.join(inside)));
                Library { path, sha256 }
            })
            .collect();
        Some(Libraries { sha256: combined(&files), files })
    }

    fn of(&self, path: &Path) -> Option<String> {
        use std::os::unix::fs::MetadataExt;
        let mut file = File::open(path).ok()?;
        let metadata = file.metadata().ok()?;
        let identity = (metadata.dev(), metadata.ino(), metadata.ctime());
        let mut known = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(found) = known.get(&identity) {
            return Some(found.clone());
        }
        let found = sha256(&mut file).ok()?;
        known.insert(identity, found.clone());
        Some(found)
    }
}

/// Files that /proc/PID/maps (proc(5)) shows as executable: code, and neither data nor shared memory.
fn mapped_code(maps: &str) -> BTreeSet<PathBuf> {
    maps.lines().filter_map(code_file).collect()
}

fn code_file(line: &str) -> Option<PathBuf> {
    // 7f3c4e000000-7f3c4e195000 r-xp 00028000 fe:00 2883603    /usr/lib/libc.so.6
    let mut rest = line;
    let mut next = || {
        let (field, tail) = rest.split_once(' ')?;
        rest = tail.trim_start();
        Some(field)
    };
    let (_address, permissions, _offset, _device, inode) = (next()?, next()?, next()?, next()?, next()?);
    (permissions.contains('x') && inode != "0" && rest.starts_with('/')).then(|| rest.into())
}

fn combined(files: &[Library]) -> Option<String> {
    let mut list = String::new();
    for file in files {
        list += &format!("{}  {}\n", file.sha256.as_ref()?, file.path.display());
    }
    sha256(&mut list.as_bytes()).ok()
}

/// Hex SHA-256 of everything that is read.
pub fn sha256(source: &mut impl Read) -> std::io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = source.read(&mut buffer)?;
        if count == 0 {
            return Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        digest.update(&buffer[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0a0000000-55d0a0100000 r--p 00000000 fe:00 11                         /usr/bin/postgres
55d0a0100000-55d0a0700000 r-xp 00100000 fe:00 11                         /usr/bin/postgres
7f0000000000-7f0000200000 rw-s 00000000 00:01 1030                       /dev/zero (deleted)
7f0000300000-7f0000400000 r--p 00000000 fe:00 12                         /usr/lib/locale/locale-archive
7f0000500000-7f0000600000 r-xp 00028000 fe:00 14                         /usr/lib/two words.so
7f0000700000-7f0000800000 r-xp 00028000 fe:00 13                         /usr/lib/libc.so.6
7f0000800000-7f0000900000 r-xp 00128000 fe:00 13                         /usr/lib/libc.so.6
7f0000a00000-7f0000b00000 rwxp 00000000 00:00 0
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
";

    #[test]
    fn code_is_what_is_mapped_executable_from_a_file() {
        let found: Vec<PathBuf> = mapped_code(MAPS).into_iter().collect();
        let expected = ["/usr/bin/postgres", "/usr/lib/libc.so.6", "/usr/lib/two words.so"];
        assert_eq!(found, expected.map(PathBuf::from));
    }

    /// A process below a /proc of its own, with a root directory that holds these files.
    fn process(files: &[(&str, &str)]) -> tempfile::TempDir {
        let process = tempfile::tempdir().unwrap();
        std::fs::write(process.path().join("maps"), MAPS).unwrap();
        std::os::unix::fs::symlink("/usr/bin/postgres", process.path().join("exe")).unwrap();
        for (path, text) in files {
            let file = process.path().join("root").join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        process
    }

    #[test]
    fn libraries_are_hashed_as_the_server_sees_them() {
        let process = process(&[("usr/lib/libc.so.6", "abc"), ("usr/lib/two words.so", "")]);
        let found = Hashes::default().libraries(process.path()).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let listed: Vec<_> = found.files.iter().map(|file| file.sha256.as_deref().unwrap()).collect();
        assert_eq!(listed, [abc, nothing]);
        let list = format!("{abc}  /usr/lib/libc.so.6\n{nothing}  /usr/lib/two words.so\n");
        assert_eq!(found.sha256, sha256(&mut list.as_bytes()).ok());
    }

    #[test]
    fn a_library_that_is_gone_leaves_the_list_without_a_checksum() {
        let process = process(&[("usr/lib/libc.so.6", "abc")]);
        let found = Hashes::default().libraries(process.path()).unwrap();
        assert_eq!(found.sha256, None);
        assert_eq!(found.files[1], Library { path: "/usr/lib/two words.so".into(), sha256: None });
    }

    #[test]
    fn each_file_is_hashed_once() {
        let hashes = Hashes::default();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "abc").unwrap();
        let first = hashes.of(file.path()).unwrap();
        assert_eq!(hashes.of(file.path()), Some(first));
        assert_eq!(hashes.0.lock().unwrap().len(), 1);
        let other = tempfile::NamedTempFile::new().unwrap();
        hashes.of(other.path()).unwrap();
        assert_eq!(hashes.0.lock().unwrap().len(), 2);
    }

    #[test]
    fn the_libraries_of_a_real_process_are_found() {
        // It waits for its input, so that it lives until it is looked at.
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        let hashes = Hashes::default();
        let libc = |file: &Library| file.path.to_string_lossy().contains("libc");
        // The loader maps them one after the other.
        let found = loop {
            let found = hashes.libraries(&process).unwrap();
            if found.files.iter().any(libc) {
                break found;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(found.sha256.is_some(), "{found:?}");
    }

    #[test]
    fn a_hash_is_hexadecimal() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&mut &b"abc"[..]).unwrap(), expected);
    }
}
