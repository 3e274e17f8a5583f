//! Modules, console and power button.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::say;

/// The console as standard input, output and error. The kernel opens it only if its own initramfs has the
/// device.
pub fn open_console() -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot open /dev/console: {error}");
    let console = OpenOptions::new().read(true).write(true).open("/dev/console").map_err(failed)?;
    for standard in 0..3 {
        // SAFETY: replaces a standard stream by another open file.
        Errno::result(unsafe { libc::dup2(console.as_raw_fd(), standard) })
            .map_err(|error| failed(error.into()))?;
    }
    if console.as_raw_fd() < 3 {
        std::mem::forget(console);
    }
    Ok(())
}

/// Loads the modules that `order` in this directory lists, in that order.
///
/// A module without its hardware (virtio over MMIO in a PC) is no failure; one that the kernel refuses is.
pub fn load_modules(directory: &Path) -> Result<(), String> {
    let order = directory.join("order");
    let names =
        fs::read_to_string(&order).map_err(|error| format!("cannot read {}: {error}", order.display()))?;
    for name in names.lines() {
        let failed = |error: Errno| format!("cannot load module {name}: {error}");
        let file = File::open(directory.join(name)).map_err(|error| format!("module {name}: {error}"))?;
        // SAFETY: an open file and a constant string.
        let loaded = unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) };
        match Errno::result(loaded) {
            Ok(_) | Err(Errno::EEXIST | Errno::ENODEV) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// Opens the input devices that report a press of the power button.
pub fn power_buttons() -> Vec<File> {
    let opened: Vec<File> = find_power_buttons(Path::new("/sys/class/input"))
        .into_iter()
        .filter_map(|event| {
            let path = Path::new("/dev/input").join(event);
            // The kernel makes the device's name a moment after its directory in /sys.
            let end = Instant::now() + Duration::from_secs(2);
            loop {
                match File::open(&path) {
                    Ok(file) => return Some(file),
                    Err(_) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
                    Err(_) => return None,
                }
            }
        })
        .collect();
    if opened.is_empty() {
        say("there is no power button: this guest can only be killed");
    }
    opened
}

fn find_power_buttons(class: &Path) -> Vec<String> {
    let entries = fs::read_dir(class).into_iter().flatten().flatten();
    let is_button = |path: PathBuf| {
        fs::read_to_string(path.join("device/name")).is_ok_and(|name| name.trim() == "Power Button")
    };
    let mut found: Vec<String> = entries
        .filter(|entry| is_button(entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("event"))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_button_is_found_among_input_devices() {
        let class = tempfile::tempdir().unwrap();
        for (device, name) in
            [("event0", "AT keyboard\n"), ("event1", "Power Button\n"), ("input1", "Power Button\n")]
        {
            fs::create_dir_all(class.path().join(device).join("device")).unwrap();
            fs::write(class.path().join(device).join("device/name"), name).unwrap();
        }
        assert_eq!(find_power_buttons(class.path()), ["event1"]);
        assert!(find_power_buttons(Path::new("/no/such/class")).is_empty());
    }
}
