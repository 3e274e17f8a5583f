//! Waiting for a moment to within microseconds: tokio's own timers tick in milliseconds, which would be
//! most of a short transaction's latency from its intended start.

use std::io::{Error, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Instant;

use tokio::io::unix::AsyncFd;

/// One of the kernel's high-resolution timers. Belongs to the runtime in which it was made.
pub struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    pub fn new() -> Result<Self, Error> {
        // SAFETY: the call takes no pointers; its result is checked and owned by nobody else.
        let descriptor = unsafe {
            let fd = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
            if fd < 0 {
                return Err(Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        // SAFETY: an `OwnedFd` keeps its descriptor open, and the same, as long as it lives.
        Ok(Timer(unsafe { AsyncFd::register(descriptor)? }))
    }

    /// Returns at `moment`; at once when that has passed.
    pub async fn until(&self, moment: Instant) -> Result<(), Error> {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let value =
            libc::timespec { tv_sec: left.as_secs() as libc::time_t, tv_nsec: left.subsec_nanos().into() };
        let setting = libc::itimerspec { it_interval: zero, it_value: value };
        let fd = self.0.as_raw_fd();
        // SAFETY: the descriptor is open, `setting` outlives the call, and the old setting is not asked for.
        if unsafe { libc::timerfd_settime(fd, 0, &setting, std::ptr::null_mut()) } < 0 {
            return Err(Error::last_os_error());
        }
        loop {
            let mut ready = self.0.readable().await?;
            let read = ready.try_io(|timer| {
                let mut expirations = 0u64;
                // SAFETY: eight bytes are what the kernel writes, and `expirations` has them.
                let got = unsafe { libc::read(timer.as_raw_fd(), (&raw mut expirations).cast(), 8) };
                if got == 8 {
                    Ok(())
                } else {
                    Err(Error::last_os_error())
                }
            });
            match read {
                Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Ok(outcome) => return outcome,
                // Readiness from before: not expired yet.
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn run(body: impl AsyncFnOnce()) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(body());
    }

    #[test]
    fn it_never_returns_before_the_moment_and_can_be_used_again() {
        run(async || {
            let timer = Timer::new().unwrap();
            for micros in [1, 300, 2500, 50] {
                let moment = Instant::now() + Duration::from_micros(micros);
                timer.until(moment).await.unwrap();
                assert!(Instant::now() >= moment);
            }
        });
    }

    #[test]
    fn a_moment_that_has_passed_is_not_waited_for() {
        run(async || {
            let timer = Timer::new().unwrap();
            // A zero setting would disarm the timer and never return.
            timer.until(Instant::now()).await.unwrap();
        });
    }
}
