//! Writing to stable storage, and reading a file that no cache of this kernel holds.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::figure::unavailable;
use crate::kernel::device_bytes_read;
use crate::region::Region;
use crate::sampling::{alone, on_cpu, repeat, Work};
use crate::{permutation, Evidence, Figure, Settings};

/// What databases read and write at a time.
const BLOCK: usize = 8192;

/// Size of the file that `fsync` writes round and round, like a log with a fixed number of segments.
const LOG: usize = 16 << 20;

/// Blocks between two reads of the strided program.
const STRIDE: usize = 16;

/// Most blocks that the random program reads.
const RANDOM: usize = 512;

/// FSYNC: 8 KiB written into an existing file, and fdatasync.
pub fn fsync(settings: &Settings) -> Vec<Figure> {
    let measure = || {
        let (samples, log) = alone(settings.cpus[0], settings.time, || Log::new(&settings.directory))?;
        let mut evidence = file_system(&log.file)?;
        evidence.insert("bytesWritten".into(), json!(BLOCK));
        Ok((samples.cost("write of 8 KiB and fdatasync")?, evidence))
    };
    vec![Figure::new("FSYNC", 1, measure())]
}

struct Log {
    file: File,
    block: Vec<u8>,
    at: usize,
    outcome: io::Result<()>,
}

impl Log {
    fn new(directory: &Path) -> io::Result<Self> {
        let file = filled_file(directory, LOG)?;
        Ok(Log { file, block: vec![0; BLOCK], at: 0, outcome: Ok(()) })
    }
}

impl Work for Log {
    fn prepare(&mut self) -> io::Result<()> {
        // New bytes each time: equal ones could be written nowhere.
        self.block.rotate_right(1);
        self.block[0] = self.block[0].wrapping_add(self.at as u8 | 1);
        Ok(())
    }

    fn run(&mut self) -> u64 {
        let written = self.file.write_all_at(&self.block, self.at as u64);
        self.outcome = written.and_then(|()| self.file.sync_data());
        self.at = (self.at + BLOCK) % LOG;
        1
    }

    fn verify(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.outcome, Ok(()))
    }
}

/// READ_SEQUENTIAL, _OFFSET, _STRIDED and _RANDOM: small programs that show what makes the kernel read ahead. Each
/// starts with nothing of the file in the page cache.
pub fn reads(settings: &Settings) -> Vec<Figure> {
    let count = settings.file_bytes as usize / BLOCK;
    let programs: [(&str, Vec<usize>); 4] = [
        ("READ_SEQUENTIAL", (0..count).collect()),
        ("READ_OFFSET", (count / 2..count).collect()),
        ("READ_STRIDED", (0..count).step_by(STRIDE).collect()),
        ("READ_RANDOM", permutation::order(count, settings.seed).into_iter().take(RANDOM).collect()),
    ];
    let file = filled_file(&settings.directory, settings.file_bytes as usize);
    programs
        .into_iter()
        .map(|(name, blocks)| {
            let found = match &file {
                Ok(file) => on_cpu(settings.cpus[0], || program(settings, file, &blocks)),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            };
            Figure::new(name, 1, found)
        })
        .collect()
}

fn program(settings: &Settings, file: &File, blocks: &[usize]) -> io::Result<(crate::Cost, Evidence)> {
    let mut buffer = vec![0u8; BLOCK];
    let requested = (blocks.len() * BLOCK) as u64;
    let mut fetched = 0;
    let mut passes = 0;
    let samples = repeat(settings.time, |samples| {
        drop_cache(file, settings.file_bytes as usize)?;
        let before = device_bytes_read()?;
        let start = Instant::now();
        for block in blocks {
            file.read_exact_at(&mut buffer, (block * BLOCK) as u64)?;
        }
        let took = start.elapsed();
        let read = device_bytes_read()? - before;
        if read < requested {
            let kind = file_system(file)?["fileSystem"].to_string();
            return Err(unavailable(format!(
                "not proven to be cold: of {requested} bytes only {read} came from a device (file system {kind})"
            )));
        }
        fetched += read;
        passes += 1;
        samples.push(took, blocks.len() as u64);
        Ok(())
    })?;
    let mut evidence = file_system(file)?;
    let read = fetched / passes;
    evidence.insert("bytesRequested".into(), json!(requested));
    evidence.insert("bytesFromDevice".into(), json!(read));
    evidence.insert("magnification".into(), json!(read as f64 / requested as f64));
    Ok((samples.cost("read of 8 KiB from a cold file")?, evidence))
}

/// Empties this kernel's cache of the file, and looks whether that was done.
fn drop_cache(file: &File, bytes: usize) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => {}
        error => return Err(io::Error::from_raw_os_error(error)),
    }
    match Region::of_file(file, bytes, true)?.resident_pages()? {
        0 => Ok(()),
        pages => Err(unavailable(format!(
            "the page cache keeps {pages} pages of the file (file system {})",
            file_system(file)?["fileSystem"]
        ))),
    }
}

/// A file in this folder that disappears with its last descriptor, whatever ends the process.
pub(crate) fn unnamed_file(directory: &Path) -> io::Result<File> {
    let unnamed = OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(directory);
    match unnamed {
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) =>
        {
            // File systems without O_TMPFILE: the name goes at once.
            let path = directory.join(format!(".dbbench-probe-{}", std::process::id()));
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        }
        outcome => outcome,
    }
}

/// A file of this size that is on the device. Its contents are random, because some devices keep no zeros.
fn filled_file(directory: &Path, bytes: usize) -> io::Result<File> {
    let mut file = unnamed_file(directory)?;
    let mut seed = 0;
    let mut left = bytes;
    while left > 0 {
        let words = permutation::numbers(1 << 17, seed);
        let chunk: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).take(left).collect();
        file.write_all(&chunk)?;
        left -= chunk.len();
        seed += 1;
    }
    file.sync_all()?;
    Ok(file)
}

/// The kind of file system that the file is on.
fn file_system(file: &File) -> io::Result<Evidence> {
    // SAFETY: all-zero bytes are a valid statfs, and fstatfs only writes into it.
    let found = unsafe {
        let mut found: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(file.as_raw_fd(), &mut found) != 0 {
            return Err(io::Error::last_os_error());
        }
        found
    };
    // From linux/magic.h.
    let name = match found.f_type as u32 {
        0xef53 => "ext4".to_string(),
        0x5846_5342 => "xfs".to_string(),
        0x9123_683e => "btrfs".to_string(),
        0x0102_1994 => "tmpfs".to_string(),
        0x794c_7630 => "overlay".to_string(),
        0x6969 => "nfs".to_string(),
        0x0102_1997 => "9p".to_string(),
        0x6573_5546 => "fuse".to_string(),
        0x2fc1_2fc1 => "zfs".to_string(),
        other => format!("{other:#x}"),
    };
    let mut evidence = Evidence::new();
    evidence.insert("fileSystem".into(), name.into());
    Ok(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_size_and_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = filled_file(folder.path(), 3 << 20).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 3 << 20);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = unnamed_file(&folder.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_in_memory_is_never_called_cold() {
        let file = unnamed_file(Path::new("/dev/shm")).unwrap();
        file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
        let error = drop_cache(&file, 1 << 20).unwrap_err().to_string();
        assert!(error.contains("256 pages") && error.contains("tmpfs"), "{error}");
    }
}
