//! Taking files out of the page cache, without any privilege, and seeing whether that worked.

use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{posix_fadvise, PosixFadviseAdvice};
use nix::sys::mman::{mmap, munmap, MapFlags, ProtFlags};
use serde::Serialize;

/// What was taken out, and what stayed.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    pub files: u64,
    pub bytes: u64,
    /// Of those bytes, the ones that were still in memory afterwards, in whole pages (mincore(2)).
    pub resident_bytes: u64,
}

/// Takes every regular file below the directory out of the page cache. Symbolic links are not followed.
pub fn drop_directory(directory: &Path) -> Result<Dropped, String> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(directory) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(_) => {}
            // lost+found is root's alone.
            Err(error)
                if error.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied) => {}
            Err(error) => return Err(format!("cannot list {}: {error}", directory.display())),
        }
    }
    drop_files(&files)
}

/// Takes these files, or block devices, out of the page cache: what was changed is written first, because only
/// clean pages can go. Whoever has a file open keeps working with it.
pub fn drop_files(files: &[PathBuf]) -> Result<Dropped, String> {
    let mut dropped = Dropped::default();
    for path in files {
        let failed =
            |what: &str, error: &dyn std::fmt::Display| format!("cannot {what} {}: {error}", path.display());
        let file = File::open(path).map_err(|error| failed("open", &error))?;
        let bytes = length(&file).map_err(|error| failed("measure", &error))?;
        file.sync_data().map_err(|error| failed("write back", &error))?;
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)
            .map_err(|error| failed("drop the pages of", &error))?;
        dropped.files += 1;
        dropped.bytes += bytes;
        dropped.resident_bytes +=
            resident(&file, bytes).map_err(|error| failed("look at the pages of", &error))?;
    }
    Ok(dropped)
}

/// Bytes of a file or a block device.
fn length(mut file: &File) -> std::io::Result<u64> {
    use std::io::{Seek, SeekFrom};
    let metadata = file.metadata()?;
    if metadata.file_type().is_block_device() {
        return file.seek(SeekFrom::End(0));
    }
    Ok(metadata.len())
}

/// Bytes of the file that are in the page cache. A mapping alone brings none in.
fn resident(file: &File, bytes: u64) -> Result<u64, nix::Error> {
    /// What one mapping covers: the answer has a byte for each page.
    const WINDOW: u64 = 1 << 30;
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE)?.unwrap_or(4096) as u64;
    let mut pages = vec![0u8; (WINDOW.min(bytes).div_ceil(page)) as usize];
    let mut found = 0;
    for offset in (0..bytes).step_by(WINDOW as usize) {
        let Some(size) = NonZeroUsize::new(WINDOW.min(bytes - offset) as usize) else { continue };
        let count = (size.get() as u64).div_ceil(page) as usize;
        // SAFETY: a new mapping, which nothing reads; mincore writes one byte for each of its pages.
        unsafe {
            let start = mmap(None, size, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, file, offset as i64)?;
            let looked = nix::Error::result(libc::mincore(start.as_ptr(), size.get(), pages.as_mut_ptr()));
            munmap(start, size.get())?;
            looked?;
        }
        found += pages[..count].iter().filter(|page| *page & 1 == 1).count() as u64 * page;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Where files have pages on a disk; a temporary directory may be memory.
    fn on_disk() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn what_was_written_is_resident_until_it_is_dropped_and_keeps_its_content() {
        let directory = on_disk();
        std::fs::create_dir(directory.path().join("base")).unwrap();
        let path = directory.path().join("base/1");
        let content = vec![7u8; 3 * 1024 * 1024 + 5];
        File::create(&path).unwrap().write_all(&content).unwrap();
        let file = File::open(&path).unwrap();
        assert!(resident(&file, content.len() as u64).unwrap() >= content.len() as u64);
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
        let dropped = drop_directory(directory.path()).unwrap();
        assert_eq!((dropped.files, dropped.bytes), (1, content.len() as u64));
        assert_eq!(dropped.resident_bytes, 0);
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }

    #[test]
    fn an_empty_file_has_no_pages() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let dropped = drop_files(&[file.path().to_path_buf()]).unwrap();
        assert_eq!(dropped, Dropped { files: 1, bytes: 0, resident_bytes: 0 });
    }

    #[test]
    fn files_in_memory_stay_resident_and_say_so() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { panic!("no /dev/shm") };
        let path = directory.path().join("1");
        std::fs::write(&path, vec![1u8; 8192]).unwrap();
        assert_eq!(drop_files(&[path]).unwrap().resident_bytes, 8192);
    }

    #[test]
    fn a_missing_file_is_named() {
        assert!(drop_files(&["/no/such".into()]).unwrap_err().starts_with("cannot open /no/such"));
        assert!(drop_directory(Path::new("/no/such")).unwrap_err().contains("/no/such"));
    }
}
