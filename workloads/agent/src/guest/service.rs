//! The agent as a service of a virtual machine that boots a disk of its user's, with an init of its own.
//!
//! cloud-init starts it, from a disk that has this program and an entrypoint for the database. What its other disks
//! hold is what PID 1 of [`super`] finds: the same configuration, the same password, the same data.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nix::mount::{umount2, MntFlags};
use serde::Deserialize;

use super::{accounts, disks, mount_data, mount_secret, root, run_to_its_end, CONFIG, DATA};
use crate::config::{AgentConfig, User};
use crate::launch::config::DATA_DISK;
use crate::launch::GUEST_FAILED;
use crate::pack_root::ImageEnvironment;
use crate::supervisor::Signals;

const SETTINGS: &str = "guest.json";
const STANDARD_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// guest.json: what an image brings itself where the machine boots from the database's image, and a disk does not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    /// Name of the user that the database runs as.
    user: String,
    /// Directory with the server's programs, before those that every service looks into.
    binaries: Option<String>,
    /// Directories that the server writes to; made for its user where they are missing.
    #[serde(default)]
    directories: Vec<PathBuf>,
    /// Kilobytes that are read ahead on the data disk; the kernel's own choice when absent.
    read_ahead_kb: Option<u64>,
}

/// Runs the database until this service is stopped.
///
/// 0 when it was, 1 when the database could not be run, or ended by itself: the last line says why.
pub fn run() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{GUEST_FAILED}{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let signals = Signals::take()?;
    // What the database leaves behind is this program's to wait for, as it is PID 1's elsewhere.
    nix::sys::prctl::set_child_subreaper(true).map_err(|error| format!("cannot become a reaper: {error}"))?;
    disks::mount_iso(&disks::wait_for("config")?, Path::new(CONFIG))?;
    let settings = read(&Path::new(CONFIG).join(SETTINGS))?;
    let user = find_user(&fs::read_to_string("/etc/passwd").unwrap_or_default(), &settings.user)?;
    let config =
        AgentConfig { user: Some(user), ..AgentConfig::read(&Path::new(CONFIG).join("agent.json"))? };
    mount_data(&config, |path| path.into())?;
    mount_secret(&config, |path| path.into())?;
    make_directories(&settings.directories, user)?;
    root::widen_shared_memory();
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let image = environment(&settings, &program, std::env::vars());
    let hostname =
        nix::unistd::gethostname().map_err(|error| format!("cannot read the hostname: {error}"))?;
    let outcome = run_to_its_end(&signals, &image, &config, &hostname.to_string_lossy(), &[]);
    // The init does it otherwise, when everything has ended.
    let _ = umount2(DATA, MntFlags::empty());
    outcome
}

fn read(path: &Path) -> Result<Settings, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn find_user(passwd: &str, name: &str) -> Result<User, String> {
    let user = accounts::user(passwd, name).ok_or_else(|| {
        format!("the disk has no user {name:?}: install the database there, or set containerDisk.user")
    })?;
    if user.uid == 0 {
        return Err(format!("the user {name:?} is root, as whom no database runs"));
    }
    Ok(user)
}

fn make_directories(directories: &[PathBuf], user: User) -> Result<(), String> {
    for directory in directories.iter().filter(|directory| !directory.exists()) {
        disks::make_directory(directory)?;
        chown(directory, Some(user.uid), Some(user.gid))
            .map_err(|error| format!("cannot chown {}: {error}", directory.display()))?;
    }
    Ok(())
}

/// What stands for an image's environment: the machine's own language, and where programs are. The entrypoint beside
/// this program is the last choice: the disk may have one.
fn environment(
    settings: &Settings,
    program: &Path,
    own: impl Iterator<Item = (String, String)>,
) -> ImageEnvironment {
    let beside = program.parent().map(|directory| directory.display().to_string());
    let path: Vec<String> =
        settings.binaries.iter().cloned().chain([STANDARD_PATH.to_string()]).chain(beside).collect();
    let mut env: BTreeMap<String, String> =
        own.filter(|(name, _)| name == "LANG" || name.starts_with("LC_")).collect();
    env.insert("PATH".into(), path.join(":"));
    let read_ahead_kb = settings.read_ahead_kb.map(|kilobytes| (DATA_DISK.to_string(), kilobytes));
    ImageEnvironment {
        env,
        working_directory: "/".into(),
        read_ahead_kb: read_ahead_kb.into_iter().collect(),
        ..ImageEnvironment::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<Settings, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, text).unwrap();
        read(file.path())
    }

    #[test]
    fn programs_are_looked_for_where_the_user_says_and_the_entrypoint_last() {
        let all = settings(
            r#"{"user":"postgres","binaries":"/opt/pg/bin","directories":["/run/pg"],"readAheadKb":0}"#,
        );
        let own = [("LANG", "C.UTF-8"), ("LC_TIME", "C"), ("USER", "root"), ("PATH", "/root/bin")]
            .map(|(name, value)| (name.to_string(), value.to_string()));
        let found = environment(&all.unwrap(), Path::new("/run/agent/dbbench-driver"), own.into_iter());
        assert_eq!(found.env["PATH"], format!("/opt/pg/bin:{STANDARD_PATH}:/run/agent"));
        assert_eq!(found.env.keys().collect::<Vec<_>>(), ["LANG", "LC_TIME", "PATH"]);
        assert_eq!(found.read_ahead_kb, BTreeMap::from([("data".to_string(), 0)]));
        let least = environment(&settings(r#"{"user":"x"}"#).unwrap(), Path::new("/a/b"), [].into_iter());
        assert_eq!(least.env["PATH"], format!("{STANDARD_PATH}:/a"));
        assert!(least.read_ahead_kb.is_empty());
    }

    #[test]
    fn what_cannot_work_is_named() {
        assert!(settings("{}").unwrap_err().contains("user"));
        assert!(settings(r#"{"user":"x","paths":1}"#).unwrap_err().contains("paths"));
        let passwd = "root:x:0:0::/root:/bin/sh\npostgres:x:110:117::/var/lib/postgresql:/bin/bash\n";
        assert_eq!(find_user(passwd, "postgres"), Ok(User { uid: 110, gid: 117 }));
        assert!(find_user(passwd, "mysql").unwrap_err().contains("containerDisk.user"));
        assert!(find_user(passwd, "root").unwrap_err().contains("no database runs"));
    }

    #[test]
    fn directories_are_made_once_and_what_is_there_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (made, there) = (folder.path().join("a/b"), folder.path().join("c"));
        fs::create_dir(&there).unwrap();
        let own = User { uid: nix::unistd::getuid().as_raw(), gid: nix::unistd::getgid().as_raw() };
        make_directories(&[made.clone(), there], own).unwrap();
        assert!(made.is_dir());
        // Nobody may give a directory away but root; one that is there is nobody's affair.
        assert_eq!(make_directories(&[made], User { uid: 1, gid: 1 }), Ok(()));
    }
}
