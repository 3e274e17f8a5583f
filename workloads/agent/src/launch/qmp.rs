//! QEMU's monitor: presses the power button and hears why the machine ends.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

#[derive(Debug, Default)]
struct State {
    stream: Option<UnixStream>,
    /// The button was pressed before there was a connection.
    press: bool,
    shutdown_reason: Option<String>,
}

/// A connection to the monitor, made in the background: QEMU opens its socket when it is ready.
pub struct Monitor {
    state: Arc<Mutex<State>>,
}

impl Monitor {
    pub fn connect(socket: PathBuf) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        std::thread::spawn(move || loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => return listen(stream, &shared),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        });
        Self { state }
    }

    /// Asks the guest to power down; when there is no connection yet, as soon as there is one.
    pub fn press_power_button(&self) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &mut state.stream {
            Some(stream) => send(stream, "system_powerdown"),
            None => state.press = true,
        }
    }

    /// Why the machine has ended, in QEMU's words (`guest-shutdown`, `guest-reset`, `guest-panic`, ...).
    pub fn shutdown_reason(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).shutdown_reason.clone()
    }
}

fn listen(mut stream: UnixStream, shared: &Mutex<State>) {
    let Ok(reader) = stream.try_clone() else { return };
    // Commands are accepted only after this one.
    send(&mut stream, "qmp_capabilities");
    {
        let mut state = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if std::mem::take(&mut state.press) {
            send(&mut stream, "system_powerdown");
        }
        state.stream = Some(stream);
    }
    for line in BufReader::new(reader).lines() {
        let Ok(line) = line else { return };
        if let Some(reason) = shutdown_reason(&line) {
            shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).shutdown_reason = Some(reason);
        }
    }
}

/// A monitor that is gone has nothing more to be asked: the machine has ended.
fn send(stream: &mut UnixStream, command: &str) {
    let _ = writeln!(stream, "{{\"execute\":\"{command}\"}}");
}

fn shutdown_reason(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    (message["event"] == "SHUTDOWN").then(|| message["data"]["reason"].as_str().map(String::from))?
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn the_reason_of_a_shutdown_is_read() {
        let line = r#"{"timestamp":{},"event":"SHUTDOWN","data":{"guest":true,"reason":"guest-panic"}}"#;
        assert_eq!(shutdown_reason(line), Some("guest-panic".into()));
        assert_eq!(shutdown_reason(r#"{"event":"POWERDOWN"}"#), None);
        assert_eq!(shutdown_reason("nonsense"), None);
    }

    #[test]
    fn a_button_pressed_too_early_is_pressed_once_connected() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("qmp");
        let monitor = Monitor::connect(socket.clone());
        monitor.press_power_button();
        let (stream, _) = UnixListener::bind(&socket).unwrap().accept().unwrap();
        let mut lines = BufReader::new(&stream).lines();
        assert!(lines.next().unwrap().unwrap().contains("qmp_capabilities"));
        assert!(lines.next().unwrap().unwrap().contains("system_powerdown"));
    }
}
