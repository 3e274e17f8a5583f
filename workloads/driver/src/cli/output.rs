//! Where the result document goes.

use std::io::Write;
use std::path::Path;

use crate::failure::Failure;
use crate::report::Document;

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

/// Writes the document as one line.
pub fn write(output: &str, document: &Document) -> Result<(), Failure> {
    let line = document.to_line() + "\n";
    if output == "-" {
        let mut stdout = std::io::stdout().lock();
        return stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Failure::invalid(format!("the result cannot be written to stdout: {error}")));
    }
    // A reader must never see half a document.
    let partial = format!("{output}.partial");
    std::fs::write(&partial, line)
        .and_then(|()| std::fs::rename(&partial, output))
        .map_err(|error| Failure::invalid(format!("the result cannot be written to {output}: {error}")))
}
