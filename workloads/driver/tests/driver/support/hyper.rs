//! A temporary Hyper server on a free loopback port.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::cluster::free_port;
use super::driver::{driver, finish, Outcome};

const USER: &str = "bench";

/// A running server; its databases are files in a folder that goes with it.
pub struct Hyper {
    folder: tempfile::TempDir,
    pub port: u16,
    server: Mutex<Child>,
}

impl Hyper {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port();
        let server = Mutex::new(spawn(folder.path(), port));
        let hyper = Hyper { folder, port, server };
        hyper.wait();
        hyper
    }

    /// Starts the server again if it has ended by itself, as it may when its disk is full; its data are there.
    pub fn start_if_ended(&self) {
        let mut server = self.server.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(status) = server.try_wait().expect("the state of a child is known") {
            eprintln!("Hyper ended with {status}: {}", self.said());
            *server = spawn(self.folder.path(), self.port);
            self.wait();
        }
    }

    fn wait(&self) {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if began.elapsed() > Duration::from_secs(120) {
                panic!("Hyper does not come up: {}", self.said());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.file("output")).unwrap_or_default()
    }

    /// A file in the server's folder, where its databases are.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn url(&self, database: &str) -> String {
        format!("hyper://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    pub fn command(&self, database: &str, line: &str) -> Command {
        let mut command = driver(&line.split_whitespace().collect::<Vec<_>>());
        command.args(["--url", &self.url(database), "--connect-timeout", "60s"]);
        command
    }

    pub fn driver(&self, database: &str, line: &str) -> Outcome {
        finish(self.command(database, line))
    }

    /// Ends the server at once, as a crash would.
    pub fn kill(&self) {
        let mut server = self.server.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let _ = server.kill();
        let _ = server.wait();
    }
}

impl Drop for Hyper {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(folder: &Path, port: u16) -> Child {
    let log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("output")).unwrap();
    Command::new(program())
        .arg("run")
        .arg("--listen-connection")
        .arg(format!("tab.tcp://127.0.0.1:{port}"))
        .args(["--skip-license", "--no-password", "--init-user", USER, "--log-dir"])
        .arg(folder)
        .current_dir(folder)
        .env("LC_ALL", "C.UTF-8")
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .stdin(Stdio::null())
        .spawn()
        .expect("hyperd starts")
}

/// The server that comes with the Python package of Hyper's interface.
fn program() -> PathBuf {
    let environment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let versions = std::fs::read_dir(&environment).into_iter().flatten().flatten();
    versions
        .map(|version| version.path().join("site-packages/tableauhyperapi/bin/hyper/hyperd"))
        .find(|program| program.exists())
        .unwrap_or_else(|| {
            panic!("no hyperd below {} (make dev installs tableauhyperapi)", environment.display())
        })
}
