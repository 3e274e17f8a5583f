//! Where the result document goes.

use std::io::Write;
use std::path::Path;

use crate::failure::Failure;

/// Refuses a place that cannot be written to before anything is measured.
pub fn check(output: &str) -> Result<(), Failure> {
    if output == "-" {
        return Ok(());
    }
    let path = Path::new(output);
    if output.is_empty() || path.is_dir() {
        return Err(Failure::arguments(format!("--output {output:?} is not a file")));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        return Err(Failure::arguments(format!(
            "--output {output}: the folder {} does not exist",
            parent.display()
        )));
    }
    Ok(())
}

/// Writes a document of one line.
pub fn write(output: &str, document: String) -> Result<(), Failure> {
    let line = document + "\n";
    if output == "-" {
        let mut stdout = std::io::stdout().lock();
        return stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::invalid(format!("the result cannot be written to stdout: {error}")));
    }
    place(Path::new(output), line.as_bytes())
        .map_err(|error| Failure::invalid(format!("the result cannot be written to {output}: {error}")))
}

/// A reader must never see half a document, so a file is renamed into place; what is not a regular file
/// (a device, a pipe, a link) stays what it is and is written to.
fn place(path: &Path, line: &[u8]) -> std::io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return std::fs::OpenOptions::new().write(true).truncate(true).open(path)?.write_all(line);
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    std::fs::write(&partial, line)?;
    std::fs::rename(&partial, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        place(&path, b"a longer first document\n").unwrap();
        place(&path, b"second\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_or_pipe_is_written_to_and_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::fs::write(&target, b"old and longer").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        place(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn a_place_that_cannot_be_written_to_is_refused_before_the_measurement() {
        assert!(check("/nonexistent/result.json").unwrap_err().message.contains("/nonexistent"));
        assert!(check("/").is_err() && check("").is_err());
        assert!(check("-").is_ok() && check("/dev/null").is_ok() && check("result.json").is_ok());
    }
}
