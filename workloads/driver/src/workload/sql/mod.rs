//! The user's own statements, in the useful subset of pgbench's script syntax, and pgbench's own scripts.

mod accounts;
mod arithmetic;
mod builtin;
mod check;
mod client;
mod distribution;
mod evaluate;
mod expression;
mod function;
mod options;
mod program;
mod reader;
mod setup;
mod source;
mod statement;
mod token;
mod variable;

use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

use self::options::{Source, Weighted};
use self::program::Program;
use self::variable::{Scalar, Variable};
use crate::cli::{Common, Invocation, LoadOptions, LoopOptions, Task};
use crate::engine::{mysql, quote_identifier, Dialect, Engine, Feature, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Counts, Data, Document};
use crate::workload::random::Random;
use crate::workload::run;

pub const NAME: &str = "sql";

/// Variables that have a value in every script.
const CLIENT_ID: &str = "client_id";
const RANDOM_SEED: &str = "random_seed";
const SCALE: &str = "scale";
const DEFAULT_SEED: &str = "default_seed";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load pgbench's four tables, for the scripts of --builtin, or what a script of your own makes
    #[command(
        after_help = "Examples:\n  dbbench-driver sql load --scale 10 --url postgres://bench@db/bench\n  dbbench-driver sql load --script tables.sql --url postgres://bench@db/bench"
    )]
    Load(LoadCommand),
    /// Run scripts in pgbench's syntax
    #[command(
        after_help = "Examples:\n  dbbench-driver sql run --script often.sql@9 --script rare.sql --url postgres://bench@db/bench\n  dbbench-driver sql run --builtin tpcb-like --clients 8 --url postgres://bench@db/bench"
    )]
    Run(Box<RunCommand>),
    /// Check that the balances in pgbench's tables add up
    #[command(after_help = "Example:\n  dbbench-driver sql check --url postgres://bench@db/bench")]
    Check(CheckCommand),
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct LoadCommand {
    /// 100,000 accounts, 10 tellers and 1 branch for each
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=20_000), required_unless_present = "script")]
    scale: Option<u32>,
    /// In place of pgbench's tables, those that this script makes; it runs once, from its beginning
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scale", "connections", "replace"])]
    script: Option<String>,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct RunCommand {
    /// A script, and how often it is drawn relative to the others [default weight: 1]
    #[arg(long, value_name = "FILE[@WEIGHT]", value_parser = options::weighted)]
    script: Vec<Weighted>,
    /// A script of pgbench's: select-only, simple-update or tpcb-like
    #[arg(long, value_name = "NAME[@WEIGHT]", value_parser = options::weighted_builtin)]
    builtin: Vec<Weighted>,
    /// Give a variable of the scripts its value
    #[arg(long, value_name = "NAME=VALUE", value_parser = options::definition)]
    define: Vec<(String, String)>,
    /// Value of the variable scale [default: rows of pgbench_branches, 1 without that table]
    #[arg(long, value_parser = clap::value_parser!(i64).range(1..))]
    scale: Option<i64>,
    #[command(flatten)]
    clients: LoopOptions,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct CheckCommand {
    #[command(flatten)]
    common: Common,
}

impl Task for Command {
    fn workload(&self) -> &'static str {
        NAME
    }

    /// Where the user's own tables are likely to be.
    fn default_schema(&self, url: &str) -> String {
        mysql::database(url).unwrap_or_else(|| "public".into())
    }

    fn needs(&self) -> &'static [Feature] {
        match self {
            Command::Run(command) if command.builtin.is_empty() => &[],
            Command::Load(command) if command.script.is_some() => &[],
            // pgbench's tables have keys, and its scripts look rows up by them.
            _ => &[Feature::Keys],
        }
    }

    fn common(&self) -> &Common {
        match self {
            Command::Load(command) => &command.common,
            Command::Run(command) => &command.common,
            Command::Check(command) => &command.common,
        }
    }

    async fn perform<E: Engine>(&self, invocation: &Invocation<E>) -> Result<Document, Failure> {
        match self {
            Command::Load(LoadCommand { script: Some(path), .. }) => setup::load(invocation, path).await,
            Command::Load(command) => {
                let scale = command.scale.unwrap_or(1);
                let dataset = accounts::Accounts { scale };
                load::load(invocation, &dataset, &command.load, ("scale", scale.into())).await
            }
            Command::Run(command) => run(invocation, command).await,
            Command::Check(_) => check::check(invocation).await,
        }
    }
}

async fn run<E: Engine>(invocation: &Invocation<E>, command: &RunCommand) -> Result<Document, Failure> {
    let sources = options::sources(&command.builtin, &command.script)?;
    let program = compile(&sources, &command.define, invocation.engine.dialect())?;
    let session = invocation.connect().await?;
    let (loaded, scale) = tables(invocation, &session, command).await?;
    let own = json!({
        "scripts": sources.iter().map(describe).collect::<Vec<_>>(),
        "define": command.define.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "scale": scale,
    });
    let parameters = run::parameters(own, &command.clients);
    let mut document = invocation.document("run", parameters, session.server().await?);
    document.data = loaded;
    session.close().await;
    let variables = variables(&program, invocation.seed, scale, &command.define);
    let workload = scripts(invocation, &sources, program, variables);
    let all = |counts: &Counts| counts.ok;
    run::measure(invocation, &workload, &command.clients, all, &mut document).await?;
    Ok(document)
}

/// What clients on the invocation's engine run.
fn scripts<E: Engine>(
    invocation: &Invocation<E>,
    sources: &[Source],
    program: Program,
    variables: Vec<Variable>,
) -> client::Scripts<E> {
    let names: Vec<&'static str> =
        sources.iter().map(|source| &*Box::leak(source.name.clone().into_boxed_str())).collect();
    client::Scripts {
        engine: invocation.engine.clone(),
        seed: invocation.seed,
        variables: variables.into(),
        program: Arc::new(program),
        names: names.leak(),
        weights: sources.iter().map(|source| source.weight).collect(),
    }
}

fn compile(sources: &[Source], define: &[(String, String)], dialect: Dialect) -> Result<Program, Failure> {
    let mut defined = vec![CLIENT_ID, RANDOM_SEED, SCALE, DEFAULT_SEED];
    defined.extend(define.iter().map(|(name, _)| name.as_str()));
    let mut program = Program::new(&defined);
    for source in sources {
        program.add(&source.path, &source.text, dialect)?;
    }
    program.check()?;
    Ok(program)
}

fn describe(source: &Source) -> Value {
    let digest = sha256(&source.text);
    json!({"name": source.name, "path": source.path, "weight": source.weight, "digest": digest})
}

fn sha256(text: &str) -> String {
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digest}")
}

/// The record of the tables that were loaded by the driver, if so, and the value of `scale`.
async fn tables<E: Engine>(
    invocation: &Invocation<E>,
    session: &E::Session,
    command: &RunCommand,
) -> Result<(Option<Data>, i64), Failure> {
    let loaded = load::read(session, &invocation.schema)
        .await?
        .filter(|meta| meta.workload == NAME && meta.complete)
        .map(|meta| meta.record.data);
    let present = session.open_schema(&invocation.schema, false).await?;
    let branches = present.iter().any(|table| table == accounts::BRANCHES);
    if !branches && !command.builtin.is_empty() {
        return Err(load::inconsistent(
            "SchemaMissing",
            format!(
                "schema {} at {} has no table {}; run `dbbench-driver sql load` first",
                quote_identifier(&invocation.schema),
                invocation.engine.address(),
                accounts::BRANCHES
            ),
        ));
    }
    match command.scale {
        Some(scale) => return Ok((loaded, scale)),
        None if !branches => return Ok((loaded, 1)),
        None => {}
    }
    let branches = [(accounts::BRANCHES.to_string(), 0)].into();
    let counted = load::count_rows(session, &branches).await?;
    let scale = counted.first().map_or(1, |(_, _, rows)| (*rows as i64).max(1));
    Ok((loaded, scale))
}

/// The values of all variables when a client begins; its own number comes with the client.
fn variables(program: &Program, seed: u64, scale: i64, define: &[(String, String)]) -> Vec<Variable> {
    let mut variables = vec![Variable::Unset; program.names.len()];
    let mut give = |name: &str, value: Variable| {
        if let Some(place) = program.names.find(name) {
            variables[place] = value;
        }
    };
    let integer = |value| Variable::Scalar(Scalar::Integer(value));
    give(RANDOM_SEED, integer(seed as i64));
    give(SCALE, integer(scale));
    give(DEFAULT_SEED, integer(Random::stream(seed, "sql default seed", 0).uniform(0, i64::MAX - 1)));
    for (name, value) in define {
        give(name, Variable::parse(value));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_scripts_compile_and_the_command_line_overrides_variables() {
        let all: Vec<Weighted> =
            builtin::ALL.iter().map(|builtin| Weighted { name: builtin.name.into(), weight: 1 }).collect();
        let sources = options::sources(&all, &[]).unwrap();
        let define = [("scale".to_string(), "7".to_string())];
        let program = compile(&sources, &define, Dialect::MySql).unwrap();
        assert_eq!(program.scripts.len(), 3);
        assert_eq!(program.statements.len(), 1 + 5 + 7);
        let values = variables(&program, 42, 3, &define);
        let scale = program.names.find("scale").unwrap();
        assert_eq!(values[scale], Variable::Scalar(Scalar::Integer(7)));
    }
}
