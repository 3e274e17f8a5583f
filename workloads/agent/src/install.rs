//! Copying this binary, and other files, into a directory that containers share.

use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;

use walkdir::WalkDir;

/// Name of the binary in the directory.
const BINARY: &str = "dbbench-driver";

/// Copies this program to `to`/dbbench-driver, and each of `from` (a file or a tree) into `to`.
///
/// Each file appears complete or not at all, and an existing one is replaced, so that a repeated or
/// interrupted run does no harm.
pub fn run(to: &Path, from: &[impl AsRef<Path>]) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    // Not current_exe's path: that file may have been replaced since.
    copy_file(Path::new("/proc/self/exe"), &to.join(BINARY))?;
    for path in from.iter().map(AsRef::as_ref) {
        let name = path.file_name().ok_or_else(|| format!("{} has no name of its own", path.display()))?;
        copy(path, &to.join(name))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    for entry in WalkDir::new(from) {
        let entry = entry.map_err(|error| format!("cannot read {}: {error}", from.display()))?;
        let below = entry.path().strip_prefix(from).expect("found below it");
        let target = if below.as_os_str().is_empty() { to.to_path_buf() } else { to.join(below) };
        let kind = entry.file_type();
        if kind.is_dir() {
            fs::create_dir_all(&target)
                .map_err(|error| format!("cannot make {}: {error}", target.display()))?;
        } else if kind.is_symlink() {
            let points_to = fs::read_link(entry.path())
                .map_err(|error| format!("{}: {error}", entry.path().display()))?;
            let _ = fs::remove_file(&target);
            symlink(points_to, &target)
                .map_err(|error| format!("cannot make {}: {error}", target.display()))?;
        } else {
            copy_file(entry.path(), &target)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    let failed =
        |error: std::io::Error| format!("cannot copy {} to {}: {error}", from.display(), to.display());
    let partial =
        to.with_file_name(format!(".{}.partial", to.file_name().unwrap_or_default().to_string_lossy()));
    fs::copy(from, &partial).map_err(failed)?;
    // Other containers run it as other users.
    let mode = fs::metadata(from).map_err(failed)?.permissions().mode() | 0o444;
    fs::set_permissions(&partial, fs::Permissions::from_mode(mode & 0o777)).map_err(failed)?;
    fs::rename(&partial, to).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_trees_are_copied_and_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let tree = directory.path().join("tools");
        fs::create_dir_all(tree.join("bin")).unwrap();
        fs::write(tree.join("bin/tar"), "one").unwrap();
        fs::set_permissions(tree.join("bin/tar"), fs::Permissions::from_mode(0o700)).unwrap();
        symlink("tar", tree.join("bin/gtar")).unwrap();
        let single = directory.path().join("vmlinuz");
        fs::write(&single, "kernel").unwrap();
        let to = directory.path().join("to");
        run(&to, &[&tree, &single]).unwrap();
        fs::write(tree.join("bin/tar"), "two").unwrap();
        run(&to, &[&tree, &single]).unwrap();

        assert_eq!(fs::read_to_string(to.join("tools/bin/tar")).unwrap(), "two");
        assert_eq!(fs::read_link(to.join("tools/bin/gtar")).unwrap(), Path::new("tar"));
        assert_eq!(fs::read_to_string(to.join("vmlinuz")).unwrap(), "kernel");
        let mode = |name: &str| fs::metadata(to.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("tools/bin/tar"), 0o744);
        assert!(mode(BINARY) & 0o111 != 0);
        let own = fs::metadata("/proc/self/exe").unwrap().len();
        assert_eq!(fs::metadata(to.join(BINARY)).unwrap().len(), own);
    }

    #[test]
    fn a_missing_source_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = run(directory.path(), &["/no/such/file"]).unwrap_err();
        assert!(error.contains("/no/such/file"), "{error}");
    }
}
