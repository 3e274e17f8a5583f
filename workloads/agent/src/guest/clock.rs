//! The guest's clock and its random numbers at the start.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;

use nix::time::{clock_settime, ClockId};

use super::say;

/// linux/rtc.h: what RTC_RD_TIME fills in; like `struct tm`, in UTC.
#[repr(C)]
#[derive(Default, Clone, Copy)]
pub struct RtcTime {
    second: i32,
    minute: i32,
    hour: i32,
    day: i32,
    month: i32,
    year: i32,
    _unused: [i32; 3],
}

nix::ioctl_read!(read_rtc, b'p', 0x09, RtcTime);

/// linux/random.h: bytes, and how many bits of them count as random.
#[repr(C)]
pub struct PoolInfo {
    entropy_bits: i32,
    size: i32,
    bytes: [u8; 64],
}

// Its number was made with the size of the two integers alone.
nix::ioctl_write_ptr_bad!(add_entropy, nix::request_code_write!(b'R', 0x03, 2 * size_of::<i32>()), PoolInfo);

/// Sets the clock from the real-time clock where the kernel has not done so. Without one the clock stays:
/// a database runs with a wrong date, and the host's times are used for measuring anyway.
pub fn set_from_rtc() {
    let Ok(device) = File::open("/dev/rtc0") else { return say("there is no real-time clock") };
    let mut time = RtcTime::default();
    // SAFETY: the kernel fills in a structure of this layout.
    if unsafe { read_rtc(device.as_raw_fd(), &mut time) }.is_err() {
        return say("cannot read the real-time clock");
    }
    let now = nix::time::clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, |now| now.tv_sec());
    let real = seconds_since_1970(&time);
    if (real - now).abs() > 1 {
        if let Err(error) = clock_settime(ClockId::CLOCK_REALTIME, nix::sys::time::TimeSpec::new(real, 0)) {
            say(&format!("cannot set the clock: {error}"));
        }
    }
}

/// Days are counted by the usual civil calendar rule with years that begin in March.
fn seconds_since_1970(time: &RtcTime) -> i64 {
    let month = i64::from(time.month) + 1;
    let year = i64::from(time.year) + 1900 - i64::from(month <= 2);
    let era_days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(time.day) - 1;
    // Days from 0000-03-01 to 1970-01-01.
    let days = era_days + day_of_year - 719_468;
    days * 86_400 + i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(time.second)
}

/// Feeds the kernel from the host's random numbers, so that nothing waits for them.
pub fn seed_entropy() {
    let mut pool = PoolInfo { entropy_bits: 512, size: 64, bytes: [0; 64] };
    let seeded =
        File::open("/dev/hwrng").and_then(|mut device| device.read_exact(&mut pool.bytes)).and_then(|()| {
            let random = OpenOptions::new().write(true).open("/dev/random")?;
            // SAFETY: the kernel reads a structure of this layout.
            unsafe { add_entropy(random.as_raw_fd(), &pool) }?;
            Ok(())
        });
    if let Err(error) = seeded {
        say(&format!("no random numbers from the host: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i32, month: i32, day: i32, hour: i32) -> i64 {
        seconds_since_1970(&RtcTime { year: year - 1900, month: month - 1, day, hour, ..RtcTime::default() })
    }

    #[test]
    fn dates_become_seconds() {
        assert_eq!(at(1970, 1, 1, 0), 0);
        assert_eq!(at(2000, 2, 29, 1), 951_786_000);
        assert_eq!(at(2000, 3, 1, 0), 951_868_800);
        assert_eq!(at(2026, 11, 21, 0), 1_795_219_200);
        assert_eq!(at(2100, 3, 1, 0), 4_107_542_400);
    }
}
