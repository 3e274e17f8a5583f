//! Page faults that need no device.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use serde_json::json;

use crate::figure::unavailable;
use crate::kernel::{free_huge_pages, page_size, Counters};
use crate::region::{memory_file, Pages, Region, HUGE};
use crate::sampling::{alone, together, Work};
use crate::{Evidence, Figure, Settings};

/// Memory that one batch touches, where pages are small.
const BYTES: usize = 16 << 20;

/// Huge pages that one batch touches.
const HUGE_PAGES: usize = 16;

/// One access to each page of memory that was just mapped.
struct Touch {
    map: Box<dyn Fn() -> io::Result<Region> + Send>,
    stride: usize,
    write: bool,
    region: Option<Region>,
    before: Counters,
    evidence: Evidence,
}

impl Touch {
    fn new(
        stride: usize,
        write: bool,
        map: impl Fn() -> io::Result<Region> + Send + 'static,
    ) -> io::Result<Self> {
        let mut evidence = Evidence::new();
        evidence.insert("pageBytes".into(), json!(stride));
        let before = Counters::default();
        Ok(Touch { map: Box::new(map), stride, write, region: None, before, evidence })
    }

    fn anonymous(bytes: usize, pages: Pages) -> io::Result<Self> {
        let stride = if pages == Pages::Small { page_size() } else { HUGE };
        Touch::new(stride, true, move || Region::new(bytes, pages))
    }
}

impl Work for Touch {
    fn prepare(&mut self) -> io::Result<()> {
        // The old pages go before the new ones come.
        self.region = None;
        self.region = Some((self.map)()?);
        self.before = Counters::of_thread();
        Ok(())
    }

    fn run(&mut self) -> u64 {
        let region = self.region.as_ref().expect("prepared");
        for offset in (0..region.bytes()).step_by(self.stride) {
            let address = (region.address() + offset) as *mut u8;
            // SAFETY: inside the mapping, which is writable where `write` says so; volatile, so that it happens.
            unsafe {
                match self.write {
                    true => std::ptr::write_volatile(address, 1),
                    false => drop(black_box(std::ptr::read_volatile(address))),
                }
            }
        }
        // Time is divided by what the kernel counted: around a file's page it maps others along.
        Counters::of_thread().since(&self.before).minor_faults
    }

    fn verify(&mut self) -> io::Result<()> {
        let faults = Counters::of_thread().since(&self.before);
        let region = self.region.as_ref().expect("prepared");
        if faults.minor_faults == 0 {
            return Err(unavailable("the kernel counted no page fault while fresh pages were touched"));
        }
        if self.stride == HUGE && self.write {
            let huge = region.huge_bytes()?;
            if huge < region.bytes() as u64 {
                return Err(unavailable(format!(
                    "of {} MiB only {} MiB came in transparent huge pages (/sys/kernel/mm/transparent_hugepage/enabled: {})",
                    region.bytes() >> 20,
                    huge >> 20,
                    transparent_huge_pages()
                )));
            }
            self.evidence.insert("hugePageBytes".into(), json!(huge));
        }
        self.evidence.insert("pagesTouched".into(), json!(region.bytes() / self.stride));
        self.evidence.insert("minorFaults".into(), json!(faults.minor_faults));
        Ok(())
    }
}

/// What the kernel says about transparent huge pages, or that it has none.
pub fn transparent_huge_pages() -> String {
    std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
        .map_or("absent".into(), |text| text.trim().to_string())
}

/// PAGE_FAULT_4K against threads, and PAGE_FAULT_THP, _2M, _SHARED and _FILE with one.
pub fn page_faults(settings: &Settings) -> Vec<Figure> {
    let mut figures: Vec<Figure> = settings
        .threads
        .iter()
        .map(|threads| Figure::new("PAGE_FAULT_4K", *threads, small(settings, *threads)))
        .collect();
    figures.push(Figure::new("PAGE_FAULT_THP", 1, transparent(settings)));
    figures.push(Figure::new("PAGE_FAULT_2M", 1, huge(settings)));
    figures.push(Figure::new("PAGE_FAULT_SHARED", 1, shared(settings)));
    figures.push(Figure::new("PAGE_FAULT_FILE", 1, file(settings)));
    figures
}

/// PAGE_FAULT_4K with one thread and PAGE_FAULT_SHARED: what needs no file and no huge page.
pub fn in_memory(settings: &Settings) -> Vec<Figure> {
    vec![
        Figure::new("PAGE_FAULT_4K", 1, small(settings, 1)),
        Figure::new("PAGE_FAULT_SHARED", 1, shared(settings)),
    ]
}

type Found = io::Result<(crate::Cost, Evidence)>;

fn measure(settings: &Settings, per: &'static str, make: impl FnOnce() -> io::Result<Touch> + Send) -> Found {
    let (samples, work) = alone(settings.cpus[0], settings.time, make)?;
    Ok((samples.cost(per)?, work.evidence))
}

fn small(settings: &Settings, threads: usize) -> Found {
    let per = "minor fault on fresh anonymous memory, base page";
    let make = || Touch::anonymous(BYTES, Pages::Small);
    if threads == 1 {
        return measure(settings, per, make);
    }
    let samples = together(&settings.cpus[..threads], settings.time, make)?;
    let mut evidence = Evidence::new();
    evidence.insert("pageBytes".into(), json!(page_size()));
    Ok((samples.cost(per)?, evidence))
}

fn transparent(settings: &Settings) -> Found {
    let make = || {
        Region::new(HUGE, Pages::Transparent)
            .map_err(|error| unavailable(format!("this kernel has no transparent huge pages: {error}")))?;
        Touch::anonymous(HUGE_PAGES * HUGE, Pages::Transparent)
    };
    measure(settings, "minor fault on fresh anonymous memory, transparent huge page of 2 MiB", make)
}

fn huge(settings: &Settings) -> Found {
    let free = free_huge_pages() as usize;
    if free == 0 {
        return Err(unavailable(
            "no free huge pages of 2 MiB (HugePages_Free in /proc/meminfo is 0; vm.nr_hugepages sets them aside)",
        ));
    }
    let bytes = free.min(HUGE_PAGES) * HUGE;
    measure(settings, "minor fault on fresh anonymous memory, huge page of 2 MiB", move || {
        Touch::anonymous(bytes, Pages::Huge)
    })
}

/// Memory that is there already and that another process has filled: a server's buffers, seen by a new backend.
fn shared(settings: &Settings) -> Found {
    let file = memory_file(BYTES, false)?;
    let mut space = Region::addresses(BYTES)?;
    space.place(0..BYTES, &file)?;
    fill(&space);
    mapped(settings, "minor fault on shared memory that is present", file, true)
}

/// Page cache that is there already, seen through a private mapping: a program's text and data.
fn file(settings: &Settings) -> Found {
    let file = cached_file(&settings.directory)?;
    mapped(settings, "minor fault on a file in the page cache", file.into(), false)
}

fn mapped(settings: &Settings, per: &'static str, file: OwnedFd, shared: bool) -> Found {
    measure(settings, per, move || {
        Touch::new(page_size(), false, move || Region::of_file(&file, BYTES, shared))
    })
}

/// Writes to every page.
fn fill(space: &Region) {
    for offset in (0..space.bytes()).step_by(page_size()) {
        // SAFETY: the whole region was mapped, readable and writable, by the caller.
        unsafe { std::ptr::write_volatile((space.address() + offset) as *mut u8, 1) };
    }
}

/// A file without a name, written just now and so in the page cache.
fn cached_file(directory: &Path) -> io::Result<File> {
    let mut file = crate::storage::unnamed_file(directory)?;
    let block = vec![1u8; 1 << 20];
    for _ in 0..BYTES / block.len() {
        file.write_all(&block)?;
    }
    // Pages under writeback could be waited for.
    file.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_fresh_memory_is_one_fault() {
        let mut work = Touch::anonymous(4 << 20, Pages::Small).unwrap();
        for _ in 0..3 {
            work.prepare().unwrap();
            // Page tables may add a fault for the first access to the stack, never take one away.
            assert_eq!(work.run(), (4 << 20) / page_size() as u64);
            work.verify().unwrap();
        }
        assert_eq!(work.evidence["minorFaults"], work.evidence["pagesTouched"]);
    }
}
