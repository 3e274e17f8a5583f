//! Command line of `dbbench-driver agent`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::scope::Scope;
use crate::{config, counters, facts, guest, install, launch, pack_root, serve, tap};

/// Arguments of the agent.
#[derive(Debug, clap::Args)]
pub struct AgentArgs {
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// What the agent is asked to do.
#[derive(Debug, clap::Subcommand)]
pub enum AgentCommand {
    /// Start the database as PID 1 of its container and answer on HTTP beside it.
    #[command(after_help = "Example:\n  dbbench-driver agent serve --config /dbbench/config/agent.json")]
    Serve {
        /// The agent's configuration, agent.json.
        #[arg(long)]
        config: PathBuf,
    },
    /// Start the database in a virtual machine that has an init of its own, as one of its services.
    ///
    /// It finds its configuration, agent.json and guest.json, on the disk with the serial config.
    #[command(after_help = "Example:\n  dbbench-driver agent guest")]
    Guest,
    /// Copy this binary, and other files, into a directory that other containers share.
    #[command(after_help = "Example:\n  dbbench-driver agent install --to /dbbench/bin")]
    Install {
        /// The directory; it is made unless it is there.
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// A further file or directory to copy; may be given several times.
        #[arg(long, value_name = "PATH")]
        from: Vec<PathBuf>,
    },
    /// Write the root file system of this container as a disk image.
    #[command(
        after_help = "Example:\n  dbbench-driver agent pack-root --tools /dbbench/tools --output /dbbench/root/disk.img --size 4Gi"
    )]
    PackRoot(pack_root::PackRootArgs),
    /// Make the tap device by which a virtual machine takes its pod's place on the network, before it is run.
    #[command(after_help = "Example:\n  dbbench-driver agent tap --config /dbbench/launcher/launcher.json")]
    Tap {
        /// Description of the machine, launcher.json.
        #[arg(long)]
        config: PathBuf,
    },
    /// Run a virtual machine as PID 1 of its container.
    #[command(after_help = "Example:\n  dbbench-driver agent launch --config /dbbench/config/launcher.json")]
    Launch {
        /// Description of the machine, launcher.json.
        #[arg(long)]
        config: PathBuf,
    },
    /// Print what this container or guest is like, as JSON.
    #[command(after_help = "Example:\n  dbbench-driver agent facts --scope container")]
    Facts(ReadArgs),
    /// Print the counters of this container or guest, as JSON.
    #[command(after_help = "Example:\n  dbbench-driver agent counters --scope guest")]
    Counters(ReadArgs),
}

/// Options of the commands that read once and print.
#[derive(Debug, clap::Args)]
pub struct ReadArgs {
    /// Whose figures: those of this container's cgroup, or those of the whole guest.
    #[arg(long, value_enum, default_value_t = Scope::Container)]
    scope: Scope,
    /// The agent's configuration; names the data directory and the server's executable.
    #[arg(long)]
    config: Option<PathBuf>,
}

/// Exit code for arguments or configuration that cannot work.
const WRONG_ARGUMENTS: u8 = 2;

/// Runs one agent command and returns its exit code.
///
/// 0 is success, 2 a wrong argument or configuration, 1 any other failure; `serve` ends with the exit code
/// of the database. The last line on stderr says what failed.
pub fn run(args: AgentArgs) -> ExitCode {
    match args.command {
        AgentCommand::Serve { config } => match config::AgentConfig::read(&config) {
            Ok(config) => serve::run(config),
            Err(error) => failed(WRONG_ARGUMENTS, &error),
        },
        AgentCommand::Guest => guest::service::run(),
        AgentCommand::Install { to, from } => finish(install::run(&to, &from)),
        AgentCommand::PackRoot(arguments) => finish(pack_root::run(&arguments)),
        AgentCommand::Tap { config } => match launch::config::LauncherConfig::read(&config) {
            Ok(config) => finish(tap::prepare(&config)),
            Err(error) => failed(WRONG_ARGUMENTS, &error),
        },
        AgentCommand::Launch { config } => match launch::config::LauncherConfig::read(&config) {
            Ok(config) => launch::run(config),
            Err(error) => failed(WRONG_ARGUMENTS, &error),
        },
        AgentCommand::Facts(arguments) => print(arguments, |scope, config| {
            serde_json::to_value(facts::Reader::new(scope, config).read()).expect("facts are plain data")
        }),
        AgentCommand::Counters(arguments) => print(arguments, |scope, _| {
            serde_json::to_value(counters::read(scope)).expect("counters are plain data")
        }),
    }
}

fn print(arguments: ReadArgs, read: impl Fn(Scope, config::AgentConfig) -> serde_json::Value) -> ExitCode {
    let config = match arguments.config.as_deref().map(config::AgentConfig::read).transpose() {
        Ok(config) => config.unwrap_or_default(),
        Err(error) => return failed(WRONG_ARGUMENTS, &error),
    };
    println!("{}", read(arguments.scope, config));
    ExitCode::SUCCESS
}

fn finish(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(1, &error),
    }
}

/// Says on stderr, and to Kubernetes as the container's termination message, what failed.
pub fn failed(code: u8, message: &str) -> ExitCode {
    eprintln!("dbbench-agent: {message}");
    // Exists only in a container that the kubelet started.
    if let Ok(mut log) = std::fs::OpenOptions::new().write(true).open("/dev/termination-log") {
        use std::io::Write;
        let _ = writeln!(log, "{message}");
    }
    ExitCode::from(code)
}
