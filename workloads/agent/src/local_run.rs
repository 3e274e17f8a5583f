//! Workloads that run here, beside the database, by request: those that measure the machine, and those whose clients
//! are to share it with the database.
//!
//! This program starts itself with arguments that are made from numbers and names alone; nothing else can be asked
//! for, and of that only what the configuration allows. A run waits, with its memory filled, until it is started.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::thread::JoinHandle;

use dbbench_probes::Probe;
use nix::sys::signal::SigSet;
use serde::{Deserialize, Serialize};

use crate::config::{AgentConfig, DatabaseAccess, User};
use crate::database_run::DatabaseRun;

/// A workload that may run beside the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LocalWorkload {
    Zachmann,
    Micro,
    Tpch,
    Tpcc,
    Tatp,
}

impl LocalWorkload {
    /// Whether it is one on the database.
    pub fn has_database(self) -> bool {
        !matches!(self, LocalWorkload::Zachmann | LocalWorkload::Micro)
    }
}

/// What is asked for, with all its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LocalRun {
    Zachmann(Zachmann),
    Micro(Micro),
    Tpch(DatabaseRun),
    Tpcc(DatabaseRun),
    Tatp(DatabaseRun),
}

/// Parameters of zachmann. Its own command line refuses what is out of range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Zachmann {
    pub work_processes: u16,
    pub table_bytes: u64,
    pub record_bytes: u64,
    pub pages: Pages,
    /// None: the CPUs that the run may use.
    pub physical_cpus: Option<u32>,
    pub warmup_milliseconds: u64,
    pub duration_milliseconds: u64,
    pub max_system_percent: f64,
    pub seed: u64,
}

/// Parameters of micro. Files are in the database's directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Micro {
    /// Names of probes, at least one.
    pub probes: Vec<ProbeName>,
    pub time_milliseconds: u64,
    /// None: powers of two up to the CPUs that the run may use.
    pub threads: Option<Vec<u16>>,
    pub sort_sizes: Vec<u32>,
    pub file_bytes: u64,
    pub seed: u64,
}

/// The name of a probe that there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ProbeName(String);

impl TryFrom<String> for ProbeName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match Probe::named(&name) {
            Some(_) => Ok(ProbeName(name)),
            None => Err(format!("{name:?} is no probe")),
        }
    }
}

/// Pages that tables are made of, by the names of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pages {
    #[serde(rename = "4K")]
    Small,
    #[serde(rename = "THP")]
    Transparent,
    #[serde(rename = "2M")]
    Huge,
}

impl LocalRun {
    pub fn workload(&self) -> LocalWorkload {
        match self {
            LocalRun::Zachmann(_) => LocalWorkload::Zachmann,
            LocalRun::Micro(_) => LocalWorkload::Micro,
            LocalRun::Tpch(_) => LocalWorkload::Tpch,
            LocalRun::Tpcc(_) => LocalWorkload::Tpcc,
            LocalRun::Tatp(_) => LocalWorkload::Tatp,
        }
    }

    /// The command line, without the program. `directory` is where files may be made. The error says what is
    /// missing here.
    fn arguments(&self, directory: &Path, database: Option<&DatabaseAccess>) -> Result<Vec<String>, String> {
        let access = || database.ok_or("the configuration names no database".to_string());
        match self {
            LocalRun::Zachmann(run) => Ok(run.arguments()),
            LocalRun::Micro(run) => Ok(run.arguments(directory)),
            LocalRun::Tpch(run) => run.arguments("tpch", access()?),
            LocalRun::Tpcc(run) => run.arguments("tpcc", access()?),
            LocalRun::Tatp(run) => run.arguments("tatp", access()?),
        }
    }
}

impl Zachmann {
    fn arguments(&self) -> Vec<String> {
        let pages = match self.pages {
            Pages::Small => "4K",
            Pages::Transparent => "THP",
            Pages::Huge => "2M",
        };
        let mut line: Vec<String> = vec!["zachmann".into(), "run".into()];
        let physical = self.physical_cpus.map(|cpus| ("--physical-cpus", cpus.to_string()));
        for (option, value) in [
            ("--work-processes", self.work_processes.to_string()),
            ("--table-size", self.table_bytes.to_string()),
            ("--record-size", self.record_bytes.to_string()),
            ("--pages", pages.into()),
            ("--warmup", format!("{}ms", self.warmup_milliseconds)),
            ("--duration", format!("{}ms", self.duration_milliseconds)),
            ("--max-system-time", self.max_system_percent.to_string()),
            ("--seed", self.seed.to_string()),
        ]
        .into_iter()
        .chain(physical)
        {
            line.extend([option.to_string(), value]);
        }
        line
    }
}

impl Micro {
    fn arguments(&self, directory: &Path) -> Vec<String> {
        let names: Vec<&str> = self.probes.iter().map(|probe| probe.0.as_str()).collect();
        let threads = self.threads.as_ref().map(|threads| ("--threads", list(threads)));
        let mut line: Vec<String> = vec!["micro".into(), "run".into()];
        for (option, value) in [
            ("--probes", names.join(",")),
            ("--time", format!("{}ms", self.time_milliseconds)),
            ("--sort-sizes", list(&self.sort_sizes)),
            ("--file-size", self.file_bytes.to_string()),
            ("--dir", directory.display().to_string()),
            ("--seed", self.seed.to_string()),
        ]
        .into_iter()
        .chain(threads)
        {
            line.extend([option.to_string(), value]);
        }
        line
    }
}

fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request itself.
    Malformed(String),
    NotAllowed(String),
    /// Nothing waits to be started.
    NotPrepared,
    /// The run failed; the line with which it said so.
    Failed(String),
    /// The run ended without a word that can be passed on.
    Lost(String),
}

/// The runs of this agent: one at a time.
#[derive(Debug)]
pub struct LocalRuns {
    allowed: Vec<LocalWorkload>,
    program: PathBuf,
    /// Whom the runs belong to, where the agent is root.
    user: Option<User>,
    /// Where files may be made.
    directory: PathBuf,
    database: Option<DatabaseAccess>,
    /// Where this agent answers: the run reads its counters around the measured window.
    agent: String,
    waiting: Mutex<Option<Running>>,
    /// The process of the latest run.
    latest: Mutex<Option<OwnedFd>>,
}

#[derive(Debug)]
struct Running {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    errors: JoinHandle<String>,
}

impl LocalRuns {
    pub fn new(config: &AgentConfig) -> Self {
        let port = config.listen.rsplit(':').next().unwrap_or_default();
        LocalRuns {
            allowed: config.workloads.clone(),
            program: "/proc/self/exe".into(),
            user: config.user.filter(|_| nix::unistd::geteuid().is_root()),
            directory: config.data_directory.clone().unwrap_or_else(std::env::temp_dir),
            database: config.database.clone(),
            agent: format!("http://127.0.0.1:{port}"),
            waiting: Mutex::new(None),
            latest: Mutex::new(None),
        }
    }

    /// Starts a run; returns when its memory is filled and it waits for [`LocalRuns::start`]. An earlier run ends:
    /// who asked for it is gone, or asks for this one.
    pub fn prepare(&self, request: &str) -> Result<(), Refusal> {
        let run: LocalRun =
            serde_json::from_str(request).map_err(|error| Refusal::Malformed(error.to_string()))?;
        if !self.allowed.contains(&run.workload()) {
            return Err(Refusal::NotAllowed(format!(
                "{:?} is not among the workloads in the configuration",
                run.workload()
            )));
        }
        let arguments = run.arguments(&self.directory, self.database.as_ref()).map_err(Refusal::Lost)?;
        *lock(&self.waiting) = None;
        let mut latest = lock(&self.latest);
        if let Some(process) = latest.take() {
            kill(&process);
        }
        let mut child =
            self.spawn(&arguments).map_err(|error| Refusal::Lost(format!("it does not start: {error}")))?;
        *latest = process_of(&child);
        drop(latest);
        let mut stderr = child.stderr.take().expect("piped");
        let mut running = Running {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")),
            errors: std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            }),
        };
        // Where the agent is PID 1 its own loop reaps the process, and this finds nothing: both are the end.
        std::thread::spawn(move || child.wait());
        if running.line().is_none() {
            return Err(running.failure());
        }
        *lock(&self.waiting) = Some(running);
        Ok(())
    }

    /// Starts the run that waits; returns its result document, valid or not.
    pub fn start(&self) -> Result<String, Refusal> {
        let mut running = lock(&self.waiting).take().ok_or(Refusal::NotPrepared)?;
        // A run that has ended meanwhile says below why.
        let _ = running.input.write_all(b"\n");
        match running.line() {
            Some(document) => Ok(document),
            None => Err(running.failure()),
        }
    }

    fn spawn(&self, arguments: &[String]) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .args(["--agent", &self.agent, "--progress", "none", "--output", "-", "--await-start"])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(user) = self.user {
            command.uid(user.uid).gid(user.gid);
        }
        // SAFETY: between fork and exec only a system call is made.
        unsafe { command.pre_exec(|| Ok(SigSet::empty().thread_set_mask()?)) };
        command.spawn()
    }
}

impl Running {
    /// The next line of its output; None at its end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        matches!(read, Ok(1..)).then(|| line.trim_end().to_string())
    }

    /// What it said last.
    fn failure(self) -> Refusal {
        let Running { input, output, errors } = self;
        drop((input, output));
        let said = errors.join().unwrap_or_default();
        match said.lines().last().unwrap_or_default() {
            "" => Refusal::Lost("it was ended: by another request, or for lack of memory".into()),
            last if last.starts_with(r#"{"kind":"Error""#) => Refusal::Failed(last.into()),
            last => Refusal::Lost(last.into()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A handle of the process that no other process can take over, as its number can. None when it has ended.
fn process_of(child: &Child) -> Option<OwnedFd> {
    // SAFETY: the call takes no pointers; its result is checked and owned by nobody else.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
    }
}

fn kill(process: &OwnedFd) {
    let information = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open; no information goes along. It fails where the process has ended already.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), libc::SIGKILL, information, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"zachmann":{"workProcesses":2,"tableBytes":1000,"recordBytes":128,"pages":"4K",
        "physicalCpus":null,"warmupMilliseconds":0,"durationMilliseconds":1500,"maxSystemPercent":12.5,"seed":7}}"#;

    fn runs(workloads: Vec<LocalWorkload>, program: &str) -> LocalRuns {
        let config = AgentConfig { workloads, ..AgentConfig::default() };
        LocalRuns { program: program.into(), ..LocalRuns::new(&config) }
    }

    #[test]
    fn a_command_line_is_made_of_the_typed_parameters_alone() {
        let run: LocalRun = serde_json::from_str(RUN).unwrap();
        assert_eq!(
            run.arguments(Path::new("/data"), None).unwrap().join(" "),
            "zachmann run --work-processes 2 --table-size 1000 --record-size 128 --pages 4K --warmup 0ms \
             --duration 1500ms --max-system-time 12.5 --seed 7"
        );
        for (part, other) in [
            ("\"workProcesses\":2", "\"workProcesses\":\"2 --output /x\""),
            ("\"4K\"", "\"4K --output /x\""),
            ("\"seed\":7", "\"seed\":7,\"output\":\"/x\""),
            ("zachmann", "shell"),
        ] {
            let broken = RUN.replace(part, other);
            assert_ne!(broken, RUN);
            assert!(matches!(
                runs(vec![LocalWorkload::Zachmann], "/bin/false").prepare(&broken),
                Err(Refusal::Malformed(_))
            ));
        }
    }

    #[test]
    fn files_are_made_where_the_configuration_says_and_nowhere_else() {
        let text = r#"{"micro":{"probes":["sort","fsync"],"timeMilliseconds":200,"threads":[1,2],
            "sortSizes":[10,20],"fileBytes":1048576,"seed":7}}"#;
        let run: LocalRun = serde_json::from_str(text).unwrap();
        assert_eq!(
            run.arguments(Path::new("/data"), None).unwrap().join(" "),
            "micro run --probes sort,fsync --time 200ms --sort-sizes 10,20 --file-size 1048576 --dir /data --seed 7 \
             --threads 1,2"
        );
        let read = |text: &str| serde_json::from_str::<LocalRun>(text);
        let no_probe = read(&text.replace("fsync", "fsync,--dir")).unwrap_err();
        assert!(no_probe.to_string().contains("is no probe"), "{no_probe}");
        assert!(read(&text.replace("\"seed\"", "\"dir\":\"/etc\",\"seed\"")).is_err());
    }

    #[test]
    fn only_what_the_configuration_names_is_run() {
        let refused = runs(Vec::new(), "/bin/false").prepare(RUN);
        assert!(matches!(refused, Err(Refusal::NotAllowed(reason)) if reason.contains("Zachmann")));
    }

    #[test]
    fn nothing_starts_that_was_not_prepared_and_a_run_that_ends_says_so() {
        let runs = runs(vec![LocalWorkload::Zachmann], "/bin/false");
        assert_eq!(runs.start(), Err(Refusal::NotPrepared));
        assert!(matches!(runs.prepare(RUN), Err(Refusal::Lost(_))));
        assert_eq!(runs.start(), Err(Refusal::NotPrepared));
    }
}
