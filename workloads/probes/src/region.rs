//! Memory straight from the kernel, in pages of a chosen size.

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

pub const HUGE: usize = 2 << 20;

/// Which pages memory is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Base pages (4 KiB), and no others.
    Small,
    /// Base pages that the kernel may replace by transparent huge pages of 2 MiB.
    Transparent,
    /// Huge pages of 2 MiB that were set aside (vm.nr_hugepages).
    Huge,
}

impl Pages {
    pub fn name(self) -> &'static str {
        match self {
            Pages::Small => "4K",
            Pages::Transparent => "THP",
            Pages::Huge => "2M",
        }
    }
}

/// A private or shared mapping, unmapped on drop. Its memory is zero until it is written.
#[derive(Debug)]
pub struct Region {
    /// What is unmapped: may begin before the usable part, for the sake of alignment.
    base: usize,
    mapped: usize,
    start: usize,
    bytes: usize,
}

impl Region {
    /// Anonymous private memory; `bytes` are rounded up to whole pages. Nothing is touched yet.
    pub fn new(bytes: usize, pages: Pages) -> io::Result<Region> {
        let bytes = bytes.max(1).next_multiple_of(if pages == Pages::Small {
            crate::kernel::page_size()
        } else {
            HUGE
        });
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        match pages {
            Pages::Small => {
                let region = Region::map(bytes, flags, -1, libc::PROT_READ | libc::PROT_WRITE)?;
                // Kernels without transparent huge pages refuse the advice, and need none.
                let _ = region.advise(libc::MADV_NOHUGEPAGE);
                Ok(region)
            }
            Pages::Transparent => {
                let mut region = Region::map(bytes + HUGE, flags, -1, libc::PROT_READ | libc::PROT_WRITE)?;
                (region.start, region.bytes) = (region.base.next_multiple_of(HUGE), bytes);
                region.advise(libc::MADV_HUGEPAGE)?;
                Ok(region)
            }
            Pages::Huge => {
                let flags = flags | libc::MAP_HUGETLB | libc::MAP_HUGE_2MB;
                Region::map(bytes, flags, -1, libc::PROT_READ | libc::PROT_WRITE)
            }
        }
    }

    /// The first `bytes` of a file, to be read. `shared` mappings see the file, private ones a copy of it.
    pub fn of_file(file: &impl AsRawFd, bytes: usize, shared: bool) -> io::Result<Region> {
        let flags = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
        Region::map(bytes, flags, file.as_raw_fd(), libc::PROT_READ)
    }

    /// Addresses without memory, aligned to 2 MiB, to map things into with [`Region::place`].
    pub fn addresses(bytes: usize) -> io::Result<Region> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let mut region = Region::map(bytes + HUGE, flags, -1, libc::PROT_NONE)?;
        (region.start, region.bytes) = (region.base.next_multiple_of(HUGE), bytes);
        Ok(region)
    }

    /// Maps the beginning of a memory file, shared and writable, over a part of this region.
    pub fn place(&mut self, at: Range<usize>, file: &impl AsRawFd) -> io::Result<()> {
        assert!(at.start <= at.end && at.end <= self.bytes, "the part lies inside the region");
        // SAFETY: the range belongs to this region alone, and nothing borrows from it (&mut self).
        let got = unsafe {
            libc::mmap(
                (self.start + at.start) as *mut libc::c_void,
                at.len(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                0,
            )
        };
        if got == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn map(bytes: usize, flags: i32, file: i32, protection: i32) -> io::Result<Region> {
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let got = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0) };
        if got == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Region { base: got as usize, mapped: bytes, start: got as usize, bytes })
    }

    /// madvise(2) for the usable part.
    pub fn advise(&self, advice: libc::c_int) -> io::Result<()> {
        // SAFETY: the range is mapped by this region; the callers' advice changes no contents that anyone borrows.
        match unsafe { libc::madvise(self.start as *mut libc::c_void, self.bytes, advice) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub fn address(&self) -> usize {
        self.start
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory as words. Only for regions of [`Region::new`], which may be read and written.
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: mapped, aligned to a page, initialised to zero by the kernel, and borrowed mutably from the owner.
        unsafe { std::slice::from_raw_parts_mut(self.start as *mut u64, self.bytes / size_of::<u64>()) }
    }

    /// Bytes of this region that are in pages of 2 MiB right now, by the kernel's own account (smaps).
    pub fn huge_bytes(&self) -> io::Result<u64> {
        let text = std::fs::read_to_string("/proc/self/smaps")?;
        Ok(huge_bytes(&text, self.start..self.start + self.bytes))
    }

    /// Pages of this file mapping that the page cache holds (mincore).
    pub fn resident_pages(&self) -> io::Result<usize> {
        let mut map = vec![0u8; self.bytes.div_ceil(crate::kernel::page_size())];
        // SAFETY: the range is mapped, and the vector has one byte for each of its pages.
        match unsafe { libc::mincore(self.start as *mut libc::c_void, self.bytes, map.as_mut_ptr()) } {
            0 => Ok(map.iter().filter(|page| **page & 1 != 0).count()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: mapped by this region, and nothing borrows from it any more.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.mapped) };
    }
}

/// A file in memory, without a name. With `huge`, of set-aside pages of 2 MiB.
pub fn memory_file(bytes: usize, huge: bool) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | if huge { libc::MFD_HUGETLB | libc::MFD_HUGE_2MB } else { 0 };
    // SAFETY: the name is a C string; a returned descriptor is new and owned by nobody else.
    let file = unsafe {
        match libc::memfd_create(c"dbbench".as_ptr(), flags) {
            -1 => return Err(io::Error::last_os_error()),
            descriptor => OwnedFd::from_raw_fd(descriptor),
        }
    };
    // SAFETY: the descriptor is open.
    match unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sums what is mapped by huge pages in the mappings that begin inside the range.
fn huge_bytes(smaps: &str, range: Range<usize>) -> u64 {
    const KEYS: [&str; 4] = ["AnonHugePages:", "ShmemPmdMapped:", "Private_Hugetlb:", "Shared_Hugetlb:"];
    let mut inside = false;
    let mut kilobytes = 0;
    for line in smaps.lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        if KEYS.contains(&first) {
            if inside {
                kilobytes += words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
            }
        } else if let Some((start, _)) = first.split_once('-') {
            inside = usize::from_str_radix(start, 16).is_ok_and(|start| range.contains(&start));
        }
    }
    kilobytes * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \nSize: 4096 kB\nAnonHugePages:      2048 kB\n\
        7f0000400000-7f0000600000 rw-s 00000000 00:01 5 /memfd:x (deleted)\nShmemPmdMapped:     2048 kB\nShared_Hugetlb: 0 kB\n";

    #[test]
    fn huge_pages_are_summed_over_the_mappings_of_the_range() {
        assert_eq!(huge_bytes(SMAPS, 0x7f0000000000..0x7f0000600000), 4 << 20);
        assert_eq!(huge_bytes(SMAPS, 0x7f0000400000..0x7f0000600000), 2 << 20);
        assert_eq!(huge_bytes(SMAPS, 0..1), 0);
        assert_eq!(huge_bytes("", 0..usize::MAX), 0);
    }

    #[test]
    fn small_pages_stay_small_whatever_the_system_prefers() {
        let mut region = Region::new(8 << 20, Pages::Small).unwrap();
        region.words().fill(1);
        assert_eq!((region.huge_bytes().unwrap(), region.bytes()), (0, 8 << 20));
    }

    #[test]
    fn transparent_regions_are_aligned_to_huge_pages() {
        // A kernel without transparent huge pages refuses them by name.
        match Region::new(3 << 20, Pages::Transparent) {
            Ok(region) => assert_eq!((region.address() % HUGE, region.bytes()), (0, 4 << 20)),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EINVAL)),
        }
    }

    #[test]
    fn one_memory_file_shows_at_several_addresses() {
        let file = memory_file(4096, false).unwrap();
        let mut space = Region::addresses(HUGE).unwrap();
        space.place(0..4096, &file).unwrap();
        space.place(8192..12288, &file).unwrap();
        // SAFETY: both pages were just mapped, readable and writable, and belong to this test alone.
        unsafe {
            std::ptr::write_volatile(space.address() as *mut u64, 77);
            assert_eq!(std::ptr::read_volatile((space.address() + 8192) as *const u64), 77);
        }
    }
}
