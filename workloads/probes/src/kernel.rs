//! What the kernel counts for this process, and for the machine: a pod's node or a guest.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Counters of a thread or process up to now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counters {
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl Counters {
    /// Of the whole process.
    pub fn of_process() -> Self {
        Self::read(libc::RUSAGE_SELF)
    }

    /// Of the calling thread.
    pub fn of_thread() -> Self {
        Self::read(libc::RUSAGE_THREAD)
    }

    fn read(who: libc::c_int) -> Self {
        // SAFETY: all-zero bytes are a valid rusage, and getrusage only writes into it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Counters {
            user_seconds: seconds(usage.ru_utime),
            system_seconds: seconds(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }

    /// What was counted since `before`.
    pub fn since(&self, before: &Counters) -> Counters {
        Counters {
            user_seconds: self.user_seconds - before.user_seconds,
            system_seconds: self.system_seconds - before.system_seconds,
            minor_faults: self.minor_faults - before.minor_faults,
            major_faults: self.major_faults - before.major_faults,
            voluntary_switches: self.voluntary_switches - before.voluntary_switches,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
        }
    }
}

/// Bytes that the calling thread has caused to be fetched from block devices; read-ahead on its behalf is in it.
pub fn device_bytes_read() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/io")?;
    keyed(&text, "read_bytes:").ok_or_else(|| io::Error::other("/proc/thread-self/io has no read_bytes"))
}

/// Bytes of this process that are in swap space; None where the kernel does not tell.
pub fn swapped_bytes() -> Option<u64> {
    keyed(&std::fs::read_to_string("/proc/self/status").ok()?, "VmSwap:").map(|kilobytes| kilobytes * 1024)
}

/// Pages that the machine has brought in from swap space since it started. In a pod that is the node's count.
pub fn pages_swapped_in() -> Option<u64> {
    keyed(&std::fs::read_to_string("/proc/vmstat").ok()?, "pswpin")
}

/// Memory of the machine that can be had without swapping, in bytes.
pub fn available_memory() -> Option<u64> {
    meminfo("MemAvailable:").map(|kilobytes| kilobytes * 1024)
}

/// Huge pages of 2 MiB that are set aside and free. Zero where the default huge page has another size.
pub fn free_huge_pages() -> u64 {
    match meminfo("Hugepagesize:") {
        Some(2048) => {
            let reserved = meminfo("HugePages_Rsvd:").unwrap_or(0);
            meminfo("HugePages_Free:").unwrap_or(0).saturating_sub(reserved)
        }
        _ => 0,
    }
}

/// Time that the calling process's main thread has waited for a CPU, in seconds (schedstat).
pub fn run_queue_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse::<u64>().ok().map(|nanoseconds| nanoseconds as f64 / 1e9)
}

/// Bytes that an ordinary user may still write to the file system of this folder.
pub fn free_space(directory: &Path) -> io::Result<u64> {
    let path = CString::new(directory.as_os_str().as_bytes())?;
    // SAFETY: all-zero bytes are a valid statvfs; the path is a C string, and statvfs only writes into the struct.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        match libc::statvfs(path.as_ptr(), &mut found) {
            0 => Ok(found.f_bavail as u64 * found.f_frsize as u64),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Whether files can be made in this folder.
pub fn writable(directory: &Path) -> io::Result<()> {
    crate::storage::unnamed_file(directory).map(drop)
}

/// Size of a page, in bytes.
pub fn page_size() -> usize {
    // SAFETY: sysconf has no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Size of the last cache before memory, in bytes, where the kernel tells.
pub fn last_level_cache() -> Option<u64> {
    (0..8)
        .filter_map(|index| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
            let text = std::fs::read_to_string(path).ok()?;
            text.trim().strip_suffix('K')?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
        })
        .max()
}

fn meminfo(key: &str) -> Option<u64> {
    keyed(&std::fs::read_to_string("/proc/meminfo").ok()?, key)
}

/// The number after a key at the beginning of a line.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(key)).then(|| words.next())??.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_key() {
        let text = "VmSwapped:\t 9 kB\nVmSwap:\t     128 kB\npswpin 7\n";
        assert_eq!(
            (keyed(text, "VmSwap:"), keyed(text, "pswpin"), keyed(text, "VmS")),
            (Some(128), Some(7), None)
        );
        assert_eq!(keyed("VmSwap:\n", "VmSwap:"), None);
    }

    #[test]
    fn touching_fresh_memory_counts_as_faults_of_the_thread() {
        let before = Counters::of_thread();
        let pages = vec![1u8; 64 * page_size()];
        let counted = Counters::of_thread().since(&before);
        assert!(std::hint::black_box(&pages)[0] == 1 && counted.minor_faults > 0);
    }

    #[test]
    fn this_machine_tells_what_the_probes_rely_on() {
        assert!(available_memory().unwrap() > 0);
        assert!(pages_swapped_in().is_some() && swapped_bytes().is_some());
        assert!(device_bytes_read().is_ok() && page_size() >= 4096);
    }
}
