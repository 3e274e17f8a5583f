//! A directory of a ConfigMap or Secret as an ISO 9660 image, as KubeVirt gives them to its guests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use walkdir::WalkDir;

/// Makes an image of `directory` with Rock Ridge names; only this user may read the image.
pub fn make(directory: &Path, image: &Path, volume: &str) -> Result<(), String> {
    let failed =
        |error: String| format!("cannot make {} from {}: {error}", image.display(), directory.display());
    let files = files(directory).map_err(failed)?;
    // Made readable for this user only before there is anything to read.
    let file = fs::File::create(image).map_err(|error| failed(error.to_string()))?;
    file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(|error| failed(error.to_string()))?;
    let output = Command::new("genisoimage")
        .args(["-quiet", "-rational-rock", "-full-iso9660-filenames", "-follow-links", "-V", volume])
        .args(["-graft-points"])
        .args(files.iter().map(|(name, source)| graft_point(name, source)))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .stdout(Stdio::from(file))
        .output()
        .map_err(|error| failed(format!("genisoimage: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(format!("genisoimage: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())))
}

/// Returns name and real place of every file. The kubelet keeps the files in a directory `..2026_...`,
/// shows it as `..data`, and the names as links through that: what begins with `..` is not a file's name.
fn files(directory: &Path) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let mut found = Vec::new();
    let walk = WalkDir::new(directory).follow_links(true).sort_by_file_name();
    let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b"..");
    for entry in walk.into_iter().filter_entry(|entry| entry.depth() == 0 || !hidden(entry.file_name())) {
        let entry = entry.map_err(|error| error.to_string())?;
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(directory).expect("found below it").to_path_buf();
            let source = fs::canonicalize(entry.path()).map_err(|error| error.to_string())?;
            found.push((name, source));
        }
    }
    if found.is_empty() {
        return Err("there are no files".into());
    }
    Ok(found)
}

/// `name=source`, where `=` and `\` in names are written with a backslash before them.
fn graft_point(name: &Path, source: &Path) -> String {
    let escape = |path: &Path| path.to_string_lossy().replace('\\', "\\\\").replace('=', "\\=");
    format!("{}={}", escape(name), escape(source))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_links_of_a_mounted_config_map_are_followed() {
        let directory = tempfile::tempdir().unwrap();
        let version = directory.path().join("..2026_11_21");
        fs::create_dir_all(version.join("sub")).unwrap();
        fs::write(version.join("agent.json"), "{}").unwrap();
        fs::write(version.join("sub/file"), "").unwrap();
        symlink("..2026_11_21", directory.path().join("..data")).unwrap();
        symlink("..data/agent.json", directory.path().join("agent.json")).unwrap();
        symlink("..data/sub", directory.path().join("sub")).unwrap();
        let names: Vec<PathBuf> =
            files(directory.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [PathBuf::from("agent.json"), PathBuf::from("sub/file")]);
    }

    #[test]
    fn an_empty_directory_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert!(files(directory.path()).unwrap_err().contains("no files"));
        assert!(files(Path::new("/no/such/directory")).is_err());
    }

    #[test]
    fn equal_signs_in_names_are_escaped() {
        assert_eq!(graft_point(Path::new("a=b"), Path::new("/x")), "a\\=b=/x");
    }
}
