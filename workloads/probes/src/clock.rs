//! The clock that everything is measured with.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time that a pair of readings adds to what stands between them: the median of many empty pairs.
///
/// Some tens of nanoseconds where the kernel exports its clock to processes (vDSO); a system call's time where it
/// does not, as with some clock sources in guests.
pub fn overhead() -> Duration {
    static OVERHEAD: OnceLock<Duration> = OnceLock::new();
    *OVERHEAD.get_or_init(|| {
        let mut pairs: Vec<Duration> = (0..1001).map(|_| Instant::now().elapsed()).collect();
        pairs.sort_unstable();
        pairs[pairs.len() / 2]
    })
}

/// Nanoseconds since some moment that is the same for all processes of this kernel (CLOCK_MONOTONIC).
pub fn monotonic_nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes into the timespec; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back() {
        let times: Vec<u64> = (0..1000).map(|_| monotonic_nanoseconds()).collect();
        assert!(times.is_sorted() && times[0] > 0);
    }
}
