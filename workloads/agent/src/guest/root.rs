//! The image's root file system, and what a container runtime would have put into it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{chown, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::mount::{mount, umount2, MntFlags, MsFlags};

use super::disks::{make_directory, mount_iso};
use super::say;
use crate::config::User;
use crate::guest_network::GuestNetwork;
use crate::limits::Limits;
use crate::pack_root::MEMORY_SETTINGS;
use crate::supervisor::Identity;

/// Where the root disk is mounted until it becomes the root.
const NEW_ROOT: &str = "/newroot";

/// Where a path of the image is before [`enter`].
pub fn in_new_root(path: &str) -> PathBuf {
    Path::new(NEW_ROOT).join(path.trim_start_matches('/'))
}

/// Mounts /proc, /sys and /dev in the initramfs; they move along into the root.
pub fn mount_kernel_file_systems() -> Result<(), String> {
    let quiet = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC | MsFlags::MS_NODEV;
    mount_new("proc", "/proc", quiet, None)?;
    mount_new("sysfs", "/sys", quiet, None)?;
    mount_new("devtmpfs", "/dev", MsFlags::MS_NOSUID, Some("mode=0755"))
}

fn mount_new(kind: &str, point: &str, flags: MsFlags, data: Option<&str>) -> Result<(), String> {
    make_directory(Path::new(point))?;
    mount(Some(kind), point, Some(kind), flags, data)
        .map_err(|error| format!("cannot mount {point}: {error}"))
}

/// Mounts the root disk.
pub fn mount_root(device: &Path) -> Result<(), String> {
    make_directory(Path::new(NEW_ROOT))?;
    mount(Some(device), NEW_ROOT, Some("ext4"), MsFlags::MS_RELATIME, None::<&str>)
        .map_err(|error| format!("cannot mount the root disk {} as ext4: {error}", device.display()))
}

/// Copies the files of the secret's disk into memory at `point`: on the disk anybody could read them.
pub fn copy_secret(device: &Path, point: &Path, user: Option<User>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot copy the secret: {error}");
    let disk = Path::new("/run/dbbench-secret");
    mount_iso(device, disk)?;
    make_directory(point)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), point, Some("tmpfs"), flags, Some("mode=0700,size=4m"))
        .map_err(|error| format!("cannot mount {}: {error}", point.display()))?;
    let (uid, gid) = user.map_or((0, 0), |user| (user.uid, user.gid));
    for entry in fs::read_dir(disk).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_file() {
            let target = point.join(entry.file_name());
            fs::copy(entry.path(), &target).map_err(failed)?;
            fs::set_permissions(&target, fs::Permissions::from_mode(0o400)).map_err(failed)?;
            chown(&target, Some(uid), Some(gid)).map_err(failed)?;
        }
    }
    chown(point, Some(uid), Some(gid)).map_err(failed)?;
    umount2(disk, MntFlags::empty()).map_err(|error| format!("cannot unmount the secret's disk: {error}"))
}

/// Makes the root disk the root, frees the initramfs, and mounts what a container has.
pub fn enter() -> Result<(), String> {
    let failed = |what: &str, error: nix::Error| format!("cannot enter the root disk: {what}: {error}");
    for point in ["/proc", "/sys", "/dev"] {
        let target = in_new_root(point);
        make_directory(&target)?;
        mount(Some(point), &target, None::<&str>, MsFlags::MS_MOVE, None::<&str>)
            .map_err(|error| failed(point, error))?;
    }
    free_initramfs();
    std::env::set_current_dir(NEW_ROOT).map_err(|error| format!("cannot enter {NEW_ROOT}: {error}"))?;
    mount(Some(NEW_ROOT), "/", None::<&str>, MsFlags::MS_MOVE, None::<&str>)
        .map_err(|error| failed("move", error))?;
    nix::unistd::chroot(".").map_err(|error| failed("chroot", error))?;
    std::env::set_current_dir("/").map_err(|error| format!("cannot enter /: {error}"))?;

    let no_programs = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount_new(
        "devpts",
        "/dev/pts",
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
        Some("ptmxmode=0666,mode=0620,gid=5"),
    )?;
    // As much as there is memory: the pod's /dev/shm is bounded by its memory limit only.
    mount_new("tmpfs", "/dev/shm", no_programs, Some("mode=1777,size=100%"))?;
    mount_new("mqueue", "/dev/mqueue", no_programs, None)?;
    // /run and /var/run stay the image's: it may have made directories for its sockets there.
    mount_new("tmpfs", "/tmp", MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some("mode=1777"))?;
    for (link, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        let _ = std::os::unix::fs::symlink(target, Path::new("/dev").join(link));
    }
    // Also seen in containers; the database may look at it, nothing here depends on it.
    let _ = mount(
        Some("cgroup2"),
        "/sys/fs/cgroup",
        Some("cgroup2"),
        no_programs | MsFlags::MS_RDONLY,
        None::<&str>,
    );
    Ok(())
}

/// Lets shared memory be as large as the memory, as [`enter`] does, where an init has mounted it smaller.
pub fn widen_shared_memory() {
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    if let Err(error) = mount(None::<&str>, "/dev/shm", None::<&str>, flags, Some("mode=1777,size=100%")) {
        say(&format!("cannot widen /dev/shm: {error}"));
    }
}

/// Removes the files of the initramfs, which would hold their memory for as long as the guest runs.
fn free_initramfs() {
    let Ok(device) = fs::metadata("/").map(|root| root.dev()) else { return };
    remove_below(Path::new("/"), device);
}

fn remove_below(directory: &Path, device: u64) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        // Not the root disk, nor anything else that is mounted here.
        match entry.metadata() {
            Ok(found) if found.dev() != device => {}
            Ok(found) if found.is_dir() => {
                remove_below(&path, device);
                let _ = fs::remove_dir(&path);
            }
            _ => {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Writes the files that a container runtime writes.
pub fn write_network_files(hostname: &str, network: &GuestNetwork) -> Result<(), String> {
    nix::unistd::sethostname(hostname).map_err(|error| format!("cannot set the hostname: {error}"))?;
    write_file("/etc/hostname", &format!("{hostname}\n"))?;
    write_file("/etc/hosts", &hosts(hostname, network))?;
    write_file("/etc/resolv.conf", &network.resolv_conf())
}

fn hosts(hostname: &str, network: &GuestNetwork) -> String {
    format!(
        "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n{}\t{hostname}\n",
        network.address
    )
}

/// Replaces a file; a link in its place may point anywhere.
pub fn write_file(path: &str, content: &str) -> Result<(), String> {
    let _ = fs::remove_file(path);
    if let Some(directory) = Path::new(path).parent() {
        make_directory(directory)?;
    }
    fs::write(path, content).map_err(|error| format!("cannot write {path}: {error}"))
}

/// Raises the kernel's own bound of open files where the node's was higher.
pub fn allow_open_files(limits: &Limits) {
    const BOUND: &str = "/proc/sys/fs/nr_open";
    let bound = fs::read_to_string(BOUND).ok().and_then(|text| text.trim().parse::<u64>().ok());
    if let (Some(bound), Some((_, Some(hard)))) = (bound, limits.get("nofile")) {
        if *hard > bound {
            let _ = fs::write(BOUND, hard.to_string());
        }
    }
}

/// Gives this kernel the node's settings. One that it does not have is left out: the facts show what holds.
pub fn set_memory(settings: &BTreeMap<String, String>) {
    for (name, value) in settings {
        if let Err(error) = fs::write(Path::new(MEMORY_SETTINGS).join(name), value) {
            say(&format!("cannot set {name} to {value}: {error}"));
        }
    }
}

/// Lets the database's user open /dev/stdout and /dev/stderr, which are the console here.
pub fn give_console_to(identity: Option<&Identity>) {
    if let Some(identity) = identity {
        for console in ["/dev/console", "/dev/ttyS0"] {
            let _ = chown(console, Some(identity.uid), Some(identity.gid));
        }
    }
}
