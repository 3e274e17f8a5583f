//! What an access costs more when its page is not in the TLB.
//!
//! A chain of pointers, one cache line each, runs in one random cycle through the same lines twice: once with the
//! lines packed densely, so that the TLB holds all pages, and once with every line on a page of its own, more pages
//! than any TLB has entries. The difference of an access is a TLB miss: a walk through the page tables, in a guest
//! through two sets of them.
//!
//! Where possible both walks touch the *same physical lines*: the pages are mapped many times, so that caches have
//! no part in the difference and a few megabytes are enough.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use serde_json::json;

use crate::faults::transparent_huge_pages;
use crate::figure::unavailable;
use crate::kernel::{free_huge_pages, page_size};
use crate::region::{memory_file, Pages, Region, HUGE};
use crate::sampling::{calibrate, on_cpu, repeat};
use crate::{clock, permutation, Cost, Evidence, Figure, Settings};

/// Pages of the sparse walk. Second-level TLBs have 1024 to 4096 entries.
const PAGES: usize = 8192;

/// Fewest huge pages without aliases that exceed the TLBs of most processors (1024 to 2048 entries).
const FEWEST: usize = 2048;

const LINE: usize = 64;

pub fn misses(settings: &Settings) -> Vec<Figure> {
    let figure = |name, arrange: fn(&Settings) -> io::Result<Arrangement>| {
        Figure::new(name, 1, on_cpu(settings.cpus[0], || measure(settings, arrange(settings)?)))
    };
    vec![figure("TLB_MISS_4K", small), figure("TLB_MISS_2M", huge)]
}

/// Where the lines of the two walks lie; line `i` of one stands for line `i` of the other.
struct Arrangement {
    dense: Vec<usize>,
    sparse: Vec<usize>,
    /// Keeps the memory mapped.
    spaces: Vec<Region>,
    page_bytes: usize,
    how: &'static str,
    /// Bytes of the sparse walk that must be in huge pages.
    huge_bytes: u64,
}

fn measure(settings: &Settings, arrangement: Arrangement) -> io::Result<(Cost, Evidence)> {
    link(&arrangement.dense, 0, settings.seed);
    link(&arrangement.sparse, 1, settings.seed);
    let found: u64 = arrangement.spaces.iter().map(Region::huge_bytes).sum::<io::Result<u64>>()?;
    if arrangement.page_bytes == HUGE && found < arrangement.huge_bytes {
        return Err(unavailable(format!(
            "of {} MiB only {} MiB came in huge pages ({}; /sys/kernel/mm/transparent_hugepage/enabled: {})",
            arrangement.huge_bytes >> 20,
            found >> 20,
            arrangement.how,
            transparent_huge_pages()
        )));
    }
    if arrangement.page_bytes != HUGE && found > 0 {
        return Err(unavailable("the kernel uses huge pages although small ones were asked for"));
    }
    let lines = arrangement.dense.len();
    let rounds = calibrate(|rounds| {
        black_box(walk(arrangement.dense[0], 0, lines as u64 * rounds));
    });
    let accesses = lines as u64 * rounds;
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let samples = repeat(settings.time, |samples| {
        let cost = |start: usize, chain: usize| {
            let began = Instant::now();
            black_box(walk(start, chain, accesses));
            began.elapsed().saturating_sub(clock::overhead()).as_secs_f64() / accesses as f64
        };
        let (dense, sparse) = (cost(arrangement.dense[0], 0), cost(arrangement.sparse[0], 1));
        inside.push(dense);
        outside.push(sparse);
        samples.costs.push(sparse - dense);
        samples.operations += accesses;
        Ok(())
    })?;
    let median = |values: &[f64]| crate::statistics::summarise(values).map(|summary| summary.median * 1e9);
    let mut evidence = Evidence::new();
    evidence.insert("pageBytes".into(), json!(arrangement.page_bytes));
    evidence.insert("pages".into(), json!(lines));
    evidence.insert("memory".into(), json!(arrangement.how));
    evidence.insert("hugePageBytes".into(), json!(found));
    evidence.insert("insideNanoseconds".into(), json!(median(&inside)));
    evidence.insert("outsideNanoseconds".into(), json!(median(&outside)));
    Ok((samples.cost("access that misses the TLB, beyond one that hits it")?, evidence))
}

/// Makes a random cycle of the lines. A line holds a word for each of the two walks.
fn link(lines: &[usize], chain: usize, seed: u64) {
    for (line, next) in permutation::cycle(lines.len(), seed).into_iter().enumerate() {
        let word = (lines[line] + chain * size_of::<usize>()) as *mut usize;
        // SAFETY: every line lies in a mapped, writable region of the arrangement and is aligned to 64 bytes.
        unsafe { std::ptr::write_volatile(word, lines[next]) };
    }
}

/// Follows the chain; every access needs the one before.
#[inline(never)]
fn walk(start: usize, chain: usize, accesses: u64) -> usize {
    let mut line = start;
    let step = |line: usize| {
        // SAFETY: `link` has made every line point to a line of the same arrangement.
        unsafe { std::ptr::read_volatile((line + chain * size_of::<usize>()) as *const usize) }
    };
    for _ in 0..accesses / 8 {
        line = step(step(step(step(step(step(step(step(line))))))));
    }
    line
}

/// A memory file of small pages, mapped once densely and 64 times in a row: each of its lines gets a page.
fn small(_: &Settings) -> io::Result<Arrangement> {
    let page = page_size();
    let lines_per_page = page / LINE;
    let physical = PAGES / lines_per_page;
    let bytes = physical * page;
    let file = memory_file(bytes, false)?;
    let mut dense = Region::addresses(bytes)?;
    dense.place(0..bytes, &file)?;
    let mut sparse = Region::addresses(PAGES * page)?;
    for copy in 0..lines_per_page {
        sparse.place(copy * bytes..(copy + 1) * bytes, &file)?;
    }
    for space in [&dense, &sparse] {
        // Where the system prefers huge pages for shared memory, small ones have to be asked for.
        let _ = space.advise(libc::MADV_NOHUGEPAGE);
    }
    // Copy `c` of physical page `p` is where line `c` of that page is looked at.
    let places = (0..PAGES).map(|index| (index % physical, index / physical));
    Ok(Arrangement {
        dense: places.clone().map(|(page_, line)| dense.address() + page_ * page + line * LINE).collect(),
        sparse: places
            .map(|(page_, line)| sparse.address() + (line * physical + page_) * page + line * LINE)
            .collect(),
        spaces: vec![dense, sparse],
        page_bytes: page,
        how: "shared pages, mapped many times",
        huge_bytes: 0,
    })
}

/// Huge pages: one that was set aside, else a transparent one, mapped many times; else many transparent ones.
fn huge(settings: &Settings) -> io::Result<Arrangement> {
    if free_huge_pages() > 0 {
        return aliased("a huge page that was set aside, mapped many times", true);
    }
    let transparent = aliased("a transparent huge page of shared memory, mapped many times", false)?;
    if transparent.spaces[0].huge_bytes()? > 0 {
        return Ok(transparent);
    }
    drop(transparent);
    separate(settings)
}

fn aliased(how: &'static str, set_aside: bool) -> io::Result<Arrangement> {
    let file = memory_file(HUGE, set_aside)?;
    let mut sparse = Region::addresses(PAGES * HUGE)?;
    for page in 0..PAGES {
        sparse.place(page * HUGE..(page + 1) * HUGE, &file)?;
    }
    if !set_aside {
        // Refused by kernels without transparent huge pages: then smaps shows none, and this is not used.
        let _ = sparse.advise(libc::MADV_HUGEPAGE);
    }
    let start = sparse.address();
    for page in 0..PAGES {
        // SAFETY: just mapped, readable and writable.
        unsafe { std::ptr::write_volatile((start + page * HUGE) as *mut u8, 0) };
    }
    Ok(Arrangement {
        dense: (0..PAGES).map(|line| start + line * LINE).collect(),
        sparse: (0..PAGES).map(|line| start + line * HUGE + line * LINE).collect(),
        spaces: vec![sparse],
        page_bytes: HUGE,
        how,
        huge_bytes: (PAGES * HUGE) as u64,
    })
}

fn separate(settings: &Settings) -> io::Result<Arrangement> {
    let pages = PAGES.min((settings.memory as usize / HUGE).saturating_sub(1));
    if pages < FEWEST {
        return Err(unavailable(format!(
            "no huge pages are set aside (vm.nr_hugepages), shared memory gets no transparent ones \
             (/sys/kernel/mm/transparent_hugepage/shmem_enabled), and {FEWEST} separate ones need {} MiB, more than the \
             {} MiB that may be used",
            ((FEWEST + 1) * HUGE) >> 20,
            settings.memory >> 20
        )));
    }
    let mut dense = Region::new(HUGE, Pages::Transparent)?;
    let mut sparse = Region::new(pages * HUGE, Pages::Transparent)?;
    dense.words()[0] = 0;
    for word in sparse.words().iter_mut().step_by(HUGE / size_of::<u64>()) {
        *word = 0;
    }
    Ok(Arrangement {
        dense: (0..pages).map(|line| dense.address() + line * LINE).collect(),
        // The place within the page differs from page to page, so that the lines spread over the caches' sets.
        sparse: (0..pages).map(|line| sparse.address() + line * HUGE + line * LINE % HUGE).collect(),
        huge_bytes: ((pages + 1) * HUGE) as u64,
        spaces: vec![dense, sparse],
        page_bytes: HUGE,
        how: "separate transparent huge pages",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_walks_over_small_pages_touch_the_same_lines_through_other_pages() {
        let settings = crate::tests::settings();
        let found = small(&settings).unwrap();
        let pages = |lines: &[usize]| {
            lines.iter().map(|line| line / page_size()).collect::<std::collections::HashSet<_>>().len()
        };
        assert_eq!((pages(&found.dense), pages(&found.sparse)), (PAGES * LINE / page_size(), PAGES));
        for (index, (dense, sparse)) in found.dense.iter().zip(&found.sparse).enumerate() {
            // SAFETY: both lines are mapped and writable.
            unsafe {
                std::ptr::write_volatile(*dense as *mut usize, index);
                assert_eq!(std::ptr::read_volatile(*sparse as *const usize), index);
            }
        }
    }

    #[test]
    fn a_walk_of_as_many_accesses_as_lines_ends_where_it_began() {
        let found = small(&crate::tests::settings()).unwrap();
        link(&found.dense, 0, 3);
        link(&found.sparse, 1, 3);
        assert_eq!(walk(found.dense[5], 0, PAGES as u64), found.dense[5]);
        assert_eq!(walk(found.sparse[5], 1, PAGES as u64), found.sparse[5]);
        assert_ne!(walk(found.sparse[5], 1, PAGES as u64 / 2), found.sparse[5]);
    }

    #[test]
    fn huge_pages_that_cannot_be_had_are_refused_by_their_cause() {
        let mut settings = crate::tests::settings();
        settings.memory = 64 << 20;
        let error = separate(&settings).err().unwrap().to_string();
        assert!(error.contains("vm.nr_hugepages") && error.contains("64 MiB"), "{error}");
    }
}
