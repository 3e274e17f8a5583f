//! Tables as files in dbgen's format (`a|b|c|`), without a database.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::data;
use super::rows::Form;
use super::{schema, ScaleFactor};
use crate::failure::Failure;
use crate::load::Rows;

#[derive(Debug, Args)]
pub struct GenerateCommand {
    /// Scale factor: 1 is about 1 GB
    #[arg(long, value_name = "SF")]
    scale_factor: ScaleFactor,
    /// Folder for the files TABLE.tbl; it has to exist, and files of these names are replaced
    #[arg(long, value_name = "DIR")]
    output_dir: PathBuf,
    /// Tables to generate [default: all eight]
    #[arg(long = "table", value_name = "NAME", value_delimiter = ',', value_parser = table_names())]
    tables: Vec<String>,
    /// Threads that generate [default: the number of CPUs]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

fn table_names() -> clap::builder::PossibleValuesParser {
    schema::TABLES.iter().map(|table| table.name).collect::<Vec<_>>().into()
}

/// Bytes of a file, roughly, that a thread generates before it writes them.
const PIECE: f64 = 4e6;

/// Writes the files and prints what was written, as one line of JSON.
pub fn generate(command: &GenerateCommand) -> Result<(), Failure> {
    let cpus = || std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    let threads = command.threads.map_or_else(cpus, usize::from);
    let began = Instant::now();
    let mut written = serde_json::Map::new();
    for table in &schema::TABLES {
        if !command.tables.is_empty() && !command.tables.iter().any(|name| name == table.name) {
            continue;
        }
        let path = command.output_dir.join(format!("{}.tbl", table.name));
        // A chunk of the load has about 40 MB.
        let chunks = data::chunks(table.name, &command.scale_factor);
        let parts = if chunks == 1 { 1 } else { (f64::from(chunks) * 40e6 / PIECE).ceil() as u32 };
        let open =
            |part: u32| data::rows(table.name, &command.scale_factor, part as i32, parts as i32, Form::File);
        let (rows, bytes) = write_file(&path, parts, threads, open)?;
        written.insert(table.name.into(), json!({"rows": rows, "bytes": bytes}));
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{}", json!({"kind": "Generated", "tables": written, "seconds": seconds}));
    Ok(())
}

/// Generates parts (from 1) on several threads and writes them in order; returns rows and bytes.
fn write_file(
    path: &Path,
    parts: u32,
    threads: usize,
    open: impl Fn(u32) -> Box<dyn Rows> + Sync,
) -> Result<(u64, u64), Failure> {
    let failed = |error| Failure::arguments(format!("--output-dir: {}: {error}", path.display()));
    let file = File::create(path).map_err(failed)?;
    let next = AtomicU32::new(1);
    let turn = Mutex::new(Turn { part: 1, rows: 0, bytes: 0, error: None });
    let moved = Condvar::new();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(parts as usize) {
            scope.spawn(|| loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part > parts {
                    break;
                }
                let mut text = Vec::with_capacity(PIECE as usize + PIECE as usize / 2);
                let rows = open(part).fill(&mut text, usize::MAX);
                let held = turn.lock().expect("no holder of this lock panics");
                let mut held = moved.wait_while(held, |turn| turn.part != part).expect("no holder panics");
                if held.error.is_none() {
                    held.error = (&file).write_all(&text).err();
                }
                (held.part, held.rows, held.bytes) =
                    (part + 1, held.rows + rows, held.bytes + text.len() as u64);
                moved.notify_all();
            });
        }
    });
    let turn = turn.into_inner().expect("no holder of this lock panics");
    turn.error.map_or(Ok((turn.rows, turn.bytes)), |error| Err(failed(error)))
}

/// Which part is written next, and what has been written.
struct Turn {
    part: u32,
    rows: u64,
    bytes: u64,
    error: Option<std::io::Error>,
}
