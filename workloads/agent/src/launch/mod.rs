//! PID 1 of the launcher's container: runs a virtual machine and ends it in order.

pub mod config;
pub mod names;

mod accelerator;
mod disks;
mod iso;
mod network;
mod qemu;
mod qmp;

use std::io::{BufRead, BufReader, Write};
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

use crate::cli::failed;
use crate::config::AgentConfig;
use crate::http::{self, Cold};
use crate::scope::Scope;
use crate::supervisor::{supervise_with, Signals, Step};
use config::LauncherConfig;

/// How a guest's PID 1 begins the line that says why it gives up.
pub const GUEST_FAILED: &str = "dbbench-guest: failed: ";

/// Between two presses of the power button: the first may come before the guest listens for it.
const PRESS_AGAIN: Duration = Duration::from_secs(2);

/// Runs the machine until it has ended.
///
/// 0 when it was powered down on request (SIGTERM or SIGINT), 1 when it ended by itself or could not run;
/// the message says which, with the guest's own last words.
pub fn run(config: LauncherConfig) -> ExitCode {
    match launch(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(1, &error),
    }
}

fn launch(mut config: LauncherConfig) -> Result<(), String> {
    let signals = Signals::take()?;
    let accelerator = accelerator::choose(config.accelerator)?;
    accelerator::suits(config.machine, accelerator)?;
    disks::prepare(&mut config)?;
    std::fs::create_dir_all(&config.scratch)
        .map_err(|error| format!("cannot make scratch {}: {error}", config.scratch.display()))?;
    let network = network::open(&mut config, accelerator)?;
    for iso in &config.isos {
        let label = iso.label.as_ref().unwrap_or(&iso.serial);
        iso::make(&iso.directory, &config.iso_file(&iso.serial), label)?;
    }
    let socket = config.scratch.join("qmp.sock");
    let _ = std::fs::remove_file(&socket);
    let link = network.link();
    let arguments = qemu::arguments(&config, accelerator, &link, &socket);
    eprintln!(
        "dbbench-agent: starting a {} guest with {} CPUs and {} MiB under {accelerator}, network {}",
        config.machine.name(),
        config.cpus,
        config.memory_mib,
        link.name()
    );
    if let Some(listen) = &config.listen {
        let agent = AgentConfig {
            listen: listen.to_string(),
            guest_network: Some(link.name().to_string()),
            qemu_version: qemu_version(),
            ..AgentConfig::default()
        };
        http::start(Scope::Container, &agent, config.cold_starts.then(|| Cold::Files(config.data_disks())))?;
    }
    let last_words = Arc::new(Mutex::new(None));
    let (machine, console) = start(&arguments, network.files(), last_words.clone())?;
    // They are QEMU's now.
    drop(network);
    let outcome = watch(&signals, machine, &socket, config.powerdown_grace_seconds)?;
    // What the guest wrote last is still in the pipe.
    let _ = console.join();
    let said = last_words.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    outcome.judge(said)
}

/// Absent where it does not say.
fn qemu_version() -> Option<String> {
    let said = Command::new(qemu::PROGRAM).arg("--version").output().ok()?;
    qemu::version(&String::from_utf8_lossy(&said.stdout))
}

/// How the machine ended.
#[derive(Debug)]
struct Outcome {
    code: i32,
    requested: bool,
    killed: bool,
    grace: u64,
    /// The reason that QEMU gave over QMP for the end of the machine.
    reason: Option<String>,
}

impl Outcome {
    /// A guest that says why it gave up has failed, whoever asked for its end.
    fn judge(self, said: Option<String>) -> Result<(), String> {
        match (said, self.requested, self.killed) {
            (Some(said), ..) => Err(format!("the guest failed: {said}")),
            (None, true, true) => {
                Err(format!("the guest did not power down within {} s and was killed", self.grace))
            }
            (None, true, false) if self.code == 0 => Ok(()),
            (None, false, _) if self.code == 0 => {
                let reason = self.reason.map_or(String::new(), |reason| format!(" ({reason})"));
                Err(format!("the guest ended by itself{reason}"))
            }
            _ => Err(format!("QEMU ended with exit code {}", self.code)),
        }
    }
}

/// Starts QEMU with these files open; a thread passes the guest's console on and keeps the line that says why it failed.
fn start(
    arguments: &[String],
    inherited: Vec<RawFd>,
    last_words: Arc<Mutex<Option<String>>>,
) -> Result<(Pid, std::thread::JoinHandle<()>), String> {
    let mut command = Command::new(qemu::PROGRAM);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    // A terminal's ^C is for this process, which then presses the power button.
    command.process_group(0);
    // SAFETY: only system calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            nix::sys::signal::SigSet::empty().thread_set_mask()?;
            for file in &inherited {
                // All others are closed.
                Errno::result(libc::fcntl(*file, libc::F_SETFD, 0))?;
            }
            // Outside a container nothing else would end the machine with its launcher.
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            Ok(())
        });
    }
    let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", qemu::PROGRAM))?;
    let machine = Pid::from_raw(child.id() as i32);
    let output = child.stdout.take().expect("piped");
    let console = std::thread::spawn(move || pass_on(output, std::io::stdout(), &last_words));
    Ok((machine, console))
}

/// Copies the console line by line. Bytes that are no text pass unchanged.
fn pass_on(from: impl std::io::Read, mut to: impl Write, last_words: &Mutex<Option<String>>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if let Some(said) = String::from_utf8_lossy(&line).trim_end().split_once(GUEST_FAILED) {
            *last_words.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(said.1.to_string());
        }
        let _ = to.write_all(&line);
        let _ = to.flush();
        line.clear();
    }
}

/// Waits for the end of the machine; asks for it when this process is asked to stop.
fn watch(signals: &Signals, machine: Pid, socket: &Path, grace: u64) -> Result<Outcome, String> {
    let monitor = qmp::Monitor::connect(PathBuf::from(socket));
    let mut stop: Option<Instant> = None;
    let mut pressed: Option<Instant> = None;
    let mut killed = false;
    let code = supervise_with(signals, machine, &[], None, |asked| {
        let now = Instant::now();
        if asked.stop && stop.is_none() {
            stop = Some(now + Duration::from_secs(grace));
        }
        let Some(end) = stop else { return Step::WaitForEver };
        if end <= now {
            if !killed {
                killed = true;
                let _ = kill(machine, Signal::SIGKILL);
            }
            return Step::WaitForEver;
        }
        if pressed.is_none_or(|last| now.duration_since(last) >= PRESS_AGAIN) {
            monitor.press_power_button();
            pressed = Some(now);
        }
        Step::Wait(PRESS_AGAIN.min(end - now))
    })?;
    Ok(Outcome { code, requested: stop.is_some(), killed, grace, reason: monitor.shutdown_reason() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: i32, requested: bool, killed: bool) -> Outcome {
        Outcome { code, requested, killed, grace: 60, reason: Some("guest-shutdown".into()) }
    }

    #[test]
    fn only_a_power_down_on_request_is_a_success() {
        assert_eq!(outcome(0, true, false).judge(None), Ok(()));
        let error = |outcome: Outcome, said: Option<&str>| outcome.judge(said.map(String::from)).unwrap_err();
        assert!(error(outcome(0, false, false), None).contains("ended by itself (guest-shutdown)"));
        assert!(error(outcome(137, true, true), None).contains("within 60 s"));
        assert!(error(outcome(1, false, false), None).contains("exit code 1"));
        assert!(error(outcome(0, false, false), Some("no disk")).contains("failed: no disk"));
        assert!(error(outcome(0, true, false), Some("exit code 1")).contains("exit code 1"));
    }

    #[test]
    fn the_guests_last_words_are_kept_and_its_console_passes_unchanged() {
        let console = b"booting \xff\r\ndbbench-guest: failed: no disk with serial data\r\nlast";
        let (said, mut copy) = (Mutex::new(None), Vec::new());
        pass_on(&console[..], &mut copy, &said);
        assert_eq!(copy, console);
        assert_eq!(said.into_inner().unwrap().unwrap(), "no disk with serial data");
    }
}
