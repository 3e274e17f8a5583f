//! The texts of the queries as files, without a database: what qgen is for.

use std::path::PathBuf;

use clap::Args;

use super::{parameters, queries, ScaleFactor};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct QueriesCommand {
    /// Scale factor: Query 11 depends on it
    #[arg(long, value_name = "SF")]
    scale_factor: ScaleFactor,
    /// Folder for the files q1.sql to q22.sql; it has to exist, and files of these names are replaced
    #[arg(long, value_name = "DIR")]
    output_dir: PathBuf,
    /// Values in the queries: those of the validation (clauses 2.4.x.3) or drawn with --seed (2.4.x.2)
    #[arg(long, value_enum, default_value_t = parameters::Choice::Validation)]
    parameters: parameters::Choice,
    /// Seed of random values
    #[arg(long, default_value_t = 42, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    seed: u64,
}

/// Writes the files.
pub fn write(command: &QueriesCommand) -> Result<(), Failure> {
    for query in 1..=queries::COUNT {
        let values = parameters::of(query, command.parameters, command.seed, &command.scale_factor);
        let path = command.output_dir.join(format!("q{query}.sql"));
        std::fs::write(&path, queries::text(query, &values) + ";\n")
            .map_err(|error| Failure::arguments(format!("--output-dir: {}: {error}", path.display())))?;
    }
    Ok(())
}
