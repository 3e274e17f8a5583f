//! Starting the database, and what PID 1 has to do until it has ended.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

use crate::limits::{self, Limits};

/// Signals that ask PID 1 to stop the database in order.
const STOP: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGPWR];

/// Signals as a stream of events. They are blocked, so this is to be made before any thread is started.
pub struct Signals {
    events: SignalFd,
}

impl Signals {
    pub fn take() -> Result<Self, String> {
        let mut wanted = SigSet::empty();
        for signal in STOP.into_iter().chain([Signal::SIGCHLD, Signal::SIGHUP]) {
            wanted.add(signal);
        }
        wanted.thread_block().map_err(|error| format!("cannot block signals: {error}"))?;
        let events = SignalFd::with_flags(&wanted, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
            .map_err(|error| format!("cannot receive signals: {error}"))?;
        Ok(Self { events })
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// Returns the next signal that has arrived, if any.
    pub fn next(&self) -> Option<Signal> {
        let event = self.events.read_signal().ok().flatten()?;
        Signal::try_from(event.ssi_signo as i32).ok()
    }
}

/// Whom a command runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub uid: u32,
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// A command to start.
pub struct Program<'a> {
    pub command: &'a [String],
    /// All of its environment.
    pub env: &'a BTreeMap<String, String>,
    pub directory: Option<&'a Path>,
    /// None leaves the identity as it is.
    pub identity: Option<Identity>,
    /// Limits that are not named stay as they are.
    pub limits: &'a Limits,
}

impl Program<'_> {
    /// Starts the program; it is waited for by [`supervise`].
    pub fn start(&self) -> Result<Pid, String> {
        let (name, arguments) = self.command.split_first().ok_or("the command is empty")?;
        let path = self.env.get("PATH").map(String::as_str).unwrap_or_default();
        let program = find(name, path).ok_or_else(|| format!("command {name:?} is not in PATH ({path})"))?;
        let mut command = Command::new(&program);
        command.arg0(name).args(arguments).env_clear().envs(self.env).stdin(Stdio::null());
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        let identity = self.identity.clone();
        let limits = limits::prepared(self.limits);
        // SAFETY: between fork and exec only system calls are made, on data allocated before.
        unsafe {
            command.pre_exec(move || {
                SigSet::empty().thread_set_mask()?;
                limits::set(&limits)?;
                if let Some(identity) = &identity {
                    nix::unistd::setsid()?;
                    let groups = &identity.groups;
                    Errno::result(libc::setgroups(groups.len(), groups.as_ptr()))?;
                    Errno::result(libc::setgid(identity.gid))?;
                    Errno::result(libc::setuid(identity.uid))?;
                }
                Ok(())
            });
        }
        let child =
            command.spawn().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        Ok(Pid::from_raw(child.id() as i32))
    }
}

/// Finds a program as execvp(3) does, but with the PATH that the program will have.
fn find(name: &str, path: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(name.into());
    }
    let executable = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    path.split(':').map(|directory| Path::new(directory).join(name)).find(executable)
}

/// How the database's first process ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code; 128 and the number of the signal that ended it.
    pub code: i32,
    /// Whether it had been told to stop.
    pub requested: bool,
    /// Whether it had been told to end in order to be started again.
    pub restart: bool,
    /// Whether it had to be killed because the grace time was over.
    pub killed: bool,
    /// From the stop signal to its end; zero when it ended by itself.
    pub stopping: Duration,
}

/// What has been asked for up to now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// By a signal, or by a button.
    pub stop: bool,
    pub restart: bool,
}

/// What a policy wants to wait for.
pub enum Step {
    /// Until something happens, or at most this long.
    Wait(Duration),
    WaitForEver,
}

/// Reaps every child until `main` has ended, and returns its exit code. `policy` is called whenever
/// something has happened or its waiting time is over; it is told what was asked for: a stop by a signal
/// or because one of `buttons` has something to read, a restart because `restart` has. SIGHUP is passed on.
pub fn supervise_with(
    signals: &Signals,
    main: Pid,
    buttons: &[BorrowedFd<'_>],
    restart: Option<BorrowedFd<'_>>,
    mut policy: impl FnMut(Asked) -> Step,
) -> Result<i32, String> {
    let mut asked = Asked::default();
    let (mut buttons, mut restart) = (buttons, restart);
    loop {
        let timeout = match policy(asked) {
            Step::WaitForEver => PollTimeout::NONE,
            // Rounded up, so that the time is over when the waiting is.
            Step::Wait(time) => {
                PollTimeout::try_from(time + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
            }
        };
        let mut waiting = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        waiting.extend(buttons.iter().chain(&restart).map(|fd| PollFd::new(*fd, PollFlags::POLLIN)));
        match poll(&mut waiting, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(format!("cannot wait for events: {error}")),
        }
        let ready: Vec<bool> = waiting[1..].iter().map(|fd| fd.any().unwrap_or(false)).collect();
        let (pressed, restarted) = ready.split_at(buttons.len());
        // Asked once is asked: nobody reads these here, so they would stay readable.
        if pressed.contains(&true) {
            asked.stop = true;
            buttons = &[];
        }
        if restarted.contains(&true) {
            asked.restart = true;
            restart = None;
        }
        while let Some(signal) = signals.next() {
            if STOP.contains(&signal) {
                asked.stop = true;
            } else if signal == Signal::SIGHUP {
                let _ = kill(main, Signal::SIGHUP);
            }
        }
        if let Some(code) = reap(main) {
            return Ok(code);
        }
    }
}

/// Supervises a database: a stop, or a restart, sends `stop` to it and, when the grace time is over, SIGKILL.
pub fn supervise(
    signals: &Signals,
    main: Pid,
    stop: Signal,
    grace: Duration,
    buttons: &[BorrowedFd<'_>],
    restart: Option<BorrowedFd<'_>>,
) -> Result<Ended, String> {
    let mut asked = Asked::default();
    let mut told: Option<Instant> = None;
    let mut killed = false;
    let code = supervise_with(signals, main, buttons, restart, |now_asked| {
        let now = Instant::now();
        asked = now_asked;
        if (asked.stop || asked.restart) && told.is_none() {
            told = Some(now);
            let _ = kill(main, stop);
        }
        match told.map(|told| told + grace) {
            Some(end) if end > now => Step::Wait(end - now),
            Some(_) => {
                killed = true;
                let _ = kill(main, Signal::SIGKILL);
                Step::WaitForEver
            }
            None => Step::WaitForEver,
        }
    })?;
    let stopping = told.map_or(Duration::ZERO, |told| told.elapsed());
    Ok(Ended { code, requested: asked.stop, restart: asked.restart, killed, stopping })
}

/// Waits for every child that has ended; returns the exit code of `main` once it is among them.
fn reap(main: Pid) -> Option<i32> {
    let mut code = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(process, status)) if process == main => code = Some(status),
            Ok(WaitStatus::Signaled(process, signal, _)) if process == main => {
                code = Some(128 + signal as i32)
            }
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return code,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_path_they_will_have() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("tool");
        std::fs::write(&program, "").unwrap();
        let path = format!("/nowhere:{}", directory.path().display());
        assert_eq!(find("tool", &path), None, "not executable");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool", &path), Some(program));
        assert_eq!(find("./tool", ""), Some("./tool".into()));
    }

    #[test]
    fn a_missing_program_is_named() {
        let env = BTreeMap::from([("PATH".to_string(), "/nowhere".to_string())]);
        let command = ["gopher".to_string()];
        let program =
            Program { command: &command, env: &env, directory: None, identity: None, limits: &Limits::new() };
        assert!(program.start().unwrap_err().contains("\"gopher\" is not in PATH (/nowhere)"));
    }
}
