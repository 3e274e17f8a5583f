//! The root file system of a database image as the root disk of a guest.
//!
//! Runs inside the image itself. The image needs to have nothing for this: tar and mke2fs come from a
//! shared directory and are run through their own loader, with their own libraries.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{chown, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::facts;
use crate::limits::{self, Limits};
use crate::{mounts, read_ahead};

/// Where the image's environment is on the root disk, below its root.
pub const IMAGE_FILE: &str = ".dbbench/image.json";
/// Directories on the root disk that the guest mounts over.
const MOUNT_POINTS: [&str; 4] = ["bin", "config", "secret", "data"];
/// Written by the container runtime, not by the image.
const RUNTIME_FILES: [&str; 3] = ["etc/hosts", "etc/hostname", "etc/resolv.conf"];
/// The group of QEMU, in KubeVirt's launcher and in ours.
const QEMU_GROUP: u32 = 107;

/// Options of `agent pack-root`.
#[derive(Debug, clap::Args)]
pub struct PackRootArgs {
    /// Directory with bin/tar, bin/mke2fs (1.47.2 or newer), lib/ and mke2fs.conf.
    #[arg(long, value_name = "DIR")]
    tools: PathBuf,
    /// The disk image to write.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Size of the file system, such as 4Gi.
    #[arg(long, value_parser = parse_size)]
    size: u64,
    /// What the guest's data disk will be on: a directory of the volume, or a block device. The disk gets its read-ahead;
    /// without this, that of the volume that FILE is on, which is always the root disk's.
    #[arg(long, value_name = "PATH")]
    data: Option<PathBuf>,
    /// Kilobytes that the guest reads ahead on its data disk, whatever its volume has; 0 for none.
    #[arg(long, value_name = "KILOBYTES")]
    data_read_ahead_kb: Option<u64>,
    /// The root to pack.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

/// What the image says of the process to start, as far as a file system cannot tell.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageEnvironment {
    pub env: BTreeMap<String, String>,
    pub working_directory: PathBuf,
    /// What the container runtime gives, so that the guest can give the same.
    #[serde(default)]
    pub limits: Limits,
    /// Settings of the node's kernel that the pod is subject to, by their file below /sys/kernel/mm.
    #[serde(default)]
    pub memory_settings: BTreeMap<String, String>,
    /// Kilobytes that are read ahead on each disk, by its serial.
    #[serde(default)]
    pub read_ahead_kb: BTreeMap<String, u64>,
}

/// Writes the disk image, unless it is there already and was made from the same inputs.
pub fn run(arguments: &PackRootArgs) -> Result<(), String> {
    let mounts = mounts::of_this_process().map_err(|error| format!("/proc/self/mountinfo: {error}"))?;
    let foreign: Vec<PathBuf> = mounts
        .iter()
        .filter_map(|mount| mount.point.strip_prefix(&arguments.root).ok())
        .filter(|path| !path.as_os_str().is_empty())
        .map(Path::to_path_buf)
        .collect();
    let image = ImageEnvironment {
        env: image_environment(std::env::vars().collect()),
        working_directory: std::env::current_dir().unwrap_or_else(|_| "/".into()),
        limits: limits::of_this_process(),
        memory_settings: memory_settings(Path::new(MEMORY_SETTINGS)),
        read_ahead_kb: read_ahead::of_disks(
            arguments.output.parent().unwrap_or(Path::new("/")),
            arguments.data.as_deref(),
            arguments.data_read_ahead_kb,
            read_ahead::of_volume,
        ),
    };
    let described = serde_json::to_string(&image).expect("strings are JSON");
    let stamp = format!("1 {} {} {described}", arguments.size, fingerprint(&arguments.root, &foreign)?);
    let stamp_file = sibling(&arguments.output, "stamp");
    if arguments.output.exists() && fs::read_to_string(&stamp_file).is_ok_and(|found| found == stamp) {
        println!("dbbench-agent: {} is up to date", arguments.output.display());
        return Ok(());
    }

    let staged = sibling(&arguments.output, "stage");
    let partial = sibling(&arguments.output, "partial");
    let _ = fs::remove_file(&stamp_file);
    let _ = fs::remove_file(&partial);
    stage(&staged, &described)?;
    let packed = pack(arguments, &foreign, &staged, &partial).and_then(|()| complete(&partial, arguments));
    let _ = fs::remove_dir_all(&staged);
    if let Err(error) = packed {
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    let failed = |error| format!("cannot write {}: {error}", stamp_file.display());
    fs::write(&stamp_file, stamp).map_err(failed)?;
    let file = fs::metadata(&arguments.output).map_err(failed)?;
    println!(
        "dbbench-agent: {} holds {} MB of {} MB",
        arguments.output.display(),
        file.blocks() * 512 / 1_000_000,
        file.len() / 1_000_000
    );
    Ok(())
}

/// Where [`ImageEnvironment::memory_settings`] are read and written.
pub const MEMORY_SETTINGS: &str = "/sys/kernel/mm";

/// Huge pages change a database's speed: the guest's kernel must not have its own idea of them.
fn memory_settings(directory: &Path) -> BTreeMap<String, String> {
    ["enabled", "defrag", "shmem_enabled"]
        .into_iter()
        .filter_map(|file| {
            let name = format!("transparent_hugepage/{file}");
            let text = fs::read_to_string(directory.join(&name)).ok()?;
            Some((name, facts::selected(&text)?))
        })
        .collect()
}

/// Lays out what is added to the image: its environment, and places to mount over.
fn stage(directory: &Path, image: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(failed)?;
    }
    for point in MOUNT_POINTS {
        fs::create_dir_all(directory.join("dbbench").join(point)).map_err(failed)?;
    }
    for name in STAGED {
        fs::create_dir_all(directory.join(name)).map_err(failed)?;
    }
    fs::write(directory.join(IMAGE_FILE), image).map_err(failed)?;
    for entry in WalkDir::new(directory).into_iter().flatten() {
        let mode = if entry.path().ends_with("tmp") {
            0o1777
        } else if entry.file_type().is_dir() {
            0o755
        } else {
            0o644
        };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).map_err(failed)?;
    }
    Ok(())
}

/// Runs `tar | mke2fs`; either one's failure is a failure.
fn pack(arguments: &PackRootArgs, foreign: &[PathBuf], staged: &Path, output: &Path) -> Result<(), String> {
    let mut tar = tool(&arguments.tools, "tar")
        .args(tar_arguments(&arguments.root, foreign, staged))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start tar from {}: {error}", arguments.tools.display()))?;
    let archive = tar.stdout.take().expect("piped");
    let made = tool(&arguments.tools, "mke2fs")
        .args(["-q", "-F", "-t", "ext4", "-m", "0", "-L", "root", "-d", "-"])
        // Otherwise the guest's kernel goes on formatting while the database is being measured.
        .args(["-E", "lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0"])
        .arg(output)
        .arg(format!("{}k", arguments.size / 1024))
        .env("MKE2FS_CONFIG", arguments.tools.join("mke2fs.conf"))
        .stdin(archive)
        .status();
    // With mke2fs gone, tar ends by a broken pipe at the latest.
    let read = tar.wait().map_err(|error| format!("cannot wait for tar: {error}"))?;
    let made =
        made.map_err(|error| format!("cannot start mke2fs from {}: {error}", arguments.tools.display()))?;
    if !made.success() {
        return Err(format!("mke2fs failed ({made}); is {} bytes too small for this image?", arguments.size));
    }
    if !read.success() {
        return Err(format!("tar failed ({read}): the root file system could not be read completely"));
    }
    Ok(())
}

/// Names that the stage provides, so that the image's own are left out.
const STAGED: [&str; 6] = [".dbbench", "dbbench", "dev", "proc", "sys", "tmp"];

fn tar_arguments(root: &Path, foreign: &[PathBuf], staged: &Path) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--create",
        "--format=posix",
        "--one-file-system",
        "--numeric-owner",
        "--xattrs",
        "--xattrs-include=*",
        "--sort=name",
        "--directory",
    ]
    .map(String::from)
    .into();
    arguments.push(staged.to_string_lossy().into_owned());
    arguments.extend(STAGED.map(|name| format!("./{name}")));
    // Exclusions hold only for what follows them: the stage is complete by now.
    arguments.extend(["--anchored".into(), "--wildcards".into()]);
    let mut left_out: Vec<String> =
        STAGED.iter().chain(&RUNTIME_FILES).map(|name| name.to_string()).collect();
    // What is mounted is left out, by name: a bind mount may be of the same file system. A directory that
    // something is mounted over stays, empty.
    left_out.extend(foreign.iter().map(|path| {
        let pattern = literal(&path.to_string_lossy());
        if root.join(path).is_dir() {
            pattern + "/*"
        } else {
            pattern
        }
    }));
    left_out.sort();
    left_out.dedup();
    arguments.extend(left_out.iter().map(|path| format!("--exclude=./{path}")));
    arguments.extend(["--directory".into(), root.to_string_lossy().into_owned(), ".".into()]);
    arguments
}

/// A pattern that matches just this text.
fn literal(text: &str) -> String {
    let special = |character| matches!(character, '*' | '?' | '[' | '\\');
    text.chars()
        .flat_map(|character| special(character).then_some('\\').into_iter().chain([character]))
        .collect()
}

/// A program of the tools, run through their own loader.
fn tool(tools: &Path, name: &str) -> Command {
    let library = tools.join("lib");
    let mut command = Command::new(library.join("ld-linux-x86-64.so.2"));
    command.arg("--library-path").arg(&library).arg(tools.join("bin").join(name));
    command.env_clear().env("LC_ALL", "C");
    command
}

/// Gives the finished disk to QEMU's group, makes it durable, and puts it in its place.
fn complete(partial: &Path, arguments: &PackRootArgs) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot finish {}: {error}", arguments.output.display());
    chown(partial, None, Some(QEMU_GROUP)).map_err(failed)?;
    fs::set_permissions(partial, fs::Permissions::from_mode(0o660)).map_err(failed)?;
    fs::File::open(partial).and_then(|file| file.sync_all()).map_err(failed)?;
    fs::rename(partial, &arguments.output).map_err(failed)
}

/// Hashes name, kind, owner, size and time of every file, which change whenever an image does.
fn fingerprint(root: &Path, foreign: &[PathBuf]) -> Result<String, String> {
    let mut digest = Sha256::new();
    let own = |path: &Path| {
        let below = path.strip_prefix(root).unwrap_or(path);
        !foreign.iter().any(|mount| below == mount) && !STAGED.iter().any(|name| below == Path::new(name))
    };
    let walk = WalkDir::new(root).same_file_system(true).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(|entry| own(entry.path())) {
        let entry = entry.map_err(|error| format!("cannot read the root file system: {error}"))?;
        let metadata = entry.metadata().map_err(|error| format!("{}: {error}", entry.path().display()))?;
        let (mode, uid, gid) = (metadata.mode(), metadata.uid(), metadata.gid());
        let (size, time) = if metadata.is_dir() { (0, 0) } else { (metadata.size(), metadata.mtime()) };
        digest.update(entry.path().as_os_str().as_encoded_bytes());
        digest.update(format!("\0{mode} {uid} {gid} {size} {time}\n"));
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Leaves out of the environment what the runtime and Kubernetes have added to the image's.
fn image_environment(mut env: BTreeMap<String, String>) -> BTreeMap<String, String> {
    // Each Service in the namespace adds X_SERVICE_HOST, X_SERVICE_PORT, X_PORT, X_PORT_5432_TCP_ADDR, ...
    let services: Vec<String> =
        env.keys().filter_map(|name| name.strip_suffix("_SERVICE_HOST")).map(String::from).collect();
    env.retain(|name, _| {
        let of_service = |service: &String| {
            name.strip_prefix(service.as_str()).is_some_and(|rest| {
                rest.starts_with("_SERVICE_") || rest == "_PORT" || rest.starts_with("_PORT_")
            })
        };
        !["HOSTNAME", "HOME", "PWD", "SHLVL", "TERM", "_"].contains(&name.as_str())
            && !services.iter().any(of_service)
    });
    env
}

fn sibling(path: &Path, extension: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{extension}"))
}

/// Reads a size in bytes, with an optional binary suffix as in Kubernetes.
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        other => return Err(format!("unknown unit {other:?}: use Ki, Mi, Gi or Ti")),
    };
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    size.filter(|size| *size >= 1 << 20).ok_or_else(|| format!("{text:?} is not a size of at least 1Mi"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_kubernetes_writes_them() {
        assert_eq!(parse_size("4Gi"), Ok(4 << 30));
        assert_eq!(parse_size("1048576"), Ok(1 << 20));
        assert!(parse_size("4G").is_err());
        assert!(parse_size("Gi").is_err());
        assert!(parse_size("1Ki").is_err());
    }

    #[test]
    fn what_kubernetes_adds_is_not_the_images_environment() {
        let env = [
            ("PATH", "/usr/bin"),
            ("LANG", "C.UTF-8"),
            ("PG_PORT", "kept: no service is called PG"),
            ("HOSTNAME", "pod-0"),
            ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
            ("KUBERNETES_PORT_443_TCP_ADDR", "10.0.0.1"),
            ("MY_DB_SERVICE_HOST", "10.0.0.2"),
            ("MY_DB_SERVICE_PORT_POSTGRES", "5432"),
            ("MY_DB_PORT", "tcp://10.0.0.2:5432"),
        ];
        let env = env.map(|(name, value)| (name.to_string(), value.to_string())).into();
        let kept: Vec<String> = image_environment(env).into_keys().collect();
        assert_eq!(kept, ["LANG", "PATH", "PG_PORT"]);
    }

    #[test]
    fn mounted_files_are_left_out_and_mounted_directories_are_kept_empty() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("var/data")).unwrap();
        fs::write(root.path().join("var/file"), "").unwrap();
        let foreign = ["var/data".into(), "var/file".into()];
        let arguments = tar_arguments(root.path(), &foreign, Path::new("/stage"));
        assert!(arguments.contains(&"--exclude=./var/file".to_string()));
        assert!(!arguments.contains(&"--exclude=./var/data".to_string()));
        assert!(arguments.contains(&"--exclude=./var/data/*".to_string()));
        for name in ["etc/hosts", "etc/resolv.conf", "proc", "dbbench"] {
            assert!(arguments.contains(&format!("--exclude=./{name}")), "{name}");
        }
        let position = |word: &str| arguments.iter().position(|argument| argument == word).unwrap();
        assert!(position("./dbbench") < position("--exclude=./dbbench"));
    }

    #[test]
    fn the_nodes_huge_page_settings_are_recorded() {
        let directory = tempfile::tempdir().unwrap();
        let pages = directory.path().join("transparent_hugepage");
        fs::create_dir(&pages).unwrap();
        fs::write(pages.join("enabled"), "always [madvise] never\n").unwrap();
        let expected = [("transparent_hugepage/enabled".to_string(), "madvise".to_string())];
        assert_eq!(memory_settings(directory.path()), expected.into());
        assert!(memory_settings(Path::new("/no/such/directory")).is_empty());
    }

    #[test]
    fn names_are_no_patterns() {
        assert_eq!(literal("a*[b]\\c"), "a\\*\\[b]\\\\c");
    }

    #[test]
    fn the_fingerprint_changes_with_a_file_and_not_with_what_is_mounted() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("program"), "one").unwrap();
        fs::create_dir(root.path().join("mounted")).unwrap();
        let foreign = [PathBuf::from("mounted")];
        let before = fingerprint(root.path(), &foreign).unwrap();
        fs::write(root.path().join("mounted/file"), "x").unwrap();
        assert_eq!(fingerprint(root.path(), &foreign).unwrap(), before);
        fs::write(root.path().join("program"), "three").unwrap();
        assert_ne!(fingerprint(root.path(), &foreign).unwrap(), before);
    }
}
