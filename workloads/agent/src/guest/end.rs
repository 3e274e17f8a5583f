//! The end of the guest: all processes, then the file systems, then the power.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sys::reboot::{reboot, RebootMode};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag};
use nix::unistd::Pid;

use crate::mounts;

/// Between SIGTERM and SIGKILL for what the database left running.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends every process but this one.
pub fn stop_everything() {
    // Every process that this one may signal, but itself: never outside a guest.
    if std::process::id() != 1 {
        return;
    }
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        if kill(Pid::from_raw(-1), signal).is_err() {
            return;
        }
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Err(Errno::ECHILD) => return,
                Ok(nix::sys::wait::WaitStatus::StillAlive) => std::thread::sleep(Duration::from_millis(10)),
                _ => {}
            }
        }
    }
}

/// Ends every process, unmounts what can be, and switches the machine off.
pub fn power_off() -> ! {
    if std::process::id() != 1 {
        std::process::exit(1);
    }
    stop_everything();
    nix::unistd::sync();
    // Disks only, the last mounted first; the root cannot go while this program runs from it.
    for mount in mounts::of_this_process().unwrap_or_default().iter().rev() {
        if mount.device.starts_with("/dev/") && mount.point != Path::new("/") {
            let _ = umount2(&mount.point, MntFlags::empty());
        }
    }
    let read_only = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    let _ = mount(None::<&str>, "/", None::<&str>, read_only, None::<&str>);
    nix::unistd::sync();
    // The serial line is slower than this program.
    // SAFETY: waits until what was written to the console is out.
    unsafe { libc::tcdrain(1) };
    let _ = reboot(RebootMode::RB_POWER_OFF);
    // Not reached on a machine that can be switched off.
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}
