//! A temporary MariaDB on a free loopback port, shared by the tests that run at the same time.

use std::os::unix::fs::{chown, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cluster::{account, free_port, PASSWORD};
use super::driver::{command_at, finish, Outcome};

/// The user of the tests, who may do everything. His database `bench` is there from the start.
pub const USER: &str = "bench";

/// A schema of its own on the shared server.
pub struct MariaDb {
    server: Arc<Server>,
    pub schema: String,
}

/// A running server; ends with its last user.
struct Server {
    folder: tempfile::TempDir,
    port: u16,
    options: &'static [&'static str],
    process: Mutex<Option<Child>>,
}

static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl MariaDb {
    pub fn new() -> Self {
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let server = shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Server::start(&[]));
            *shared = Arc::downgrade(&server);
            server
        });
        MariaDb::on(server)
    }

    /// On a server that the test may stop, with further options.
    pub fn on_own_server(options: &'static [&'static str]) -> Self {
        MariaDb::on(Arc::new(Server::start(options)))
    }

    fn on(server: Arc<Server>) -> Self {
        MariaDb { server, schema: format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed)) }
    }

    pub fn url(&self) -> String {
        self.url_of(USER, "bench")
    }

    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("mysql://{user}@127.0.0.1:{}/{database}", self.server.port)
    }

    /// Runs SQL as the tests' user, and returns what the client prints without decoration.
    pub fn sql(&self, sql: &str) -> String {
        self.server.client(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Runs SQL as the tests' user in the background; its statements end in `//`.
    pub fn spawn(&self, sql: &str) -> Child {
        let mut client = self.server.client_command(sql);
        client.arg("--delimiter=//").stdin(Stdio::null()).stdout(Stdio::null());
        client.spawn().expect("the client mariadb runs")
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = command_at(&self.url(), line);
        if !line.contains("--schema") {
            command.args(["--schema", &self.schema]);
        }
        command
    }

    pub fn driver(&self, line: &str) -> Outcome {
        finish(self.command(line))
    }

    /// Like [`MariaDb::driver`]; the run has to measure.
    pub fn measured(&self, line: &str) -> Value {
        self.driver(line).measured(line)
    }

    /// Ends the server at once, as a crash would.
    pub fn kill_server(&self) {
        self.server.stop(libc::SIGKILL);
    }
}

impl Server {
    fn start(options: &'static [&'static str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let server = Server { folder, port: free_port(), options, process: Mutex::new(None) };
        let data = server.path("data");
        std::fs::create_dir(&data).unwrap();
        let beginning = format!(
            "CREATE OR REPLACE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n\
             GRANT ALL ON *.* TO '{USER}'@'127.0.0.1' WITH GRANT OPTION;\n\
             CREATE DATABASE IF NOT EXISTS bench;\n"
        );
        std::fs::write(server.path("beginning.sql"), beginning).unwrap();
        if let Some((uid, gid)) = account("mysql") {
            chown(&data, Some(uid), Some(gid)).unwrap();
        }
        let made = as_server_account("mariadb-install-db")
            .args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"])
            .arg(option("--datadir", &data))
            // A server that starts deletes the temporary tables of every other one in the same folder.
            .arg(option("--tmpdir", &data))
            .output()
            .expect("mariadb-install-db runs (apt-get install mariadb-server)");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(made.status.success(), "mariadb-install-db: {}{}", said(&made.stdout), said(&made.stderr));
        server.launch();
        server
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn launch(&self) {
        let log = std::fs::File::create(self.path("log")).unwrap();
        let data = self.path("data");
        let child = as_server_account("mariadbd")
            .arg("--no-defaults")
            .arg(option("--datadir", &data))
            .arg(option("--tmpdir", &data))
            .arg(option("--socket", &data.join("socket")))
            .arg(option("--pid-file", &data.join("pid")))
            .arg(option("--init-file", &self.path("beginning.sql")))
            .arg(format!("--port={}", self.port))
            .args(["--bind-address=127.0.0.1", "--skip-name-resolve", "--max-connections=60"])
            .args(["--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0", "--local-infile=1"])
            .args(self.options)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("mariadbd starts");
        *self.process.lock().unwrap() = Some(child);
        let began = Instant::now();
        while self.client("SELECT 1").is_err() {
            if began.elapsed() > Duration::from_secs(120) {
                let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
                panic!("MariaDB does not come up: {log}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn client_command(&self, sql: &str) -> Command {
        let mut client = Command::new("mariadb");
        client
            .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--batch", "--skip-column-names"])
            .args([format!("--port={}", self.port), format!("--user={USER}")])
            .args(["--execute", sql])
            .env("MYSQL_PWD", PASSWORD);
        client
    }

    fn client(&self, sql: &str) -> Result<String, String> {
        let output = self.client_command(sql).output().expect("the client mariadb runs");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string())
    }

    fn stop(&self, signal: i32) {
        let Some(mut child) = self.process.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
        else {
            return;
        };
        // SAFETY: the child has not been waited for, so its id is still its own.
        unsafe { libc::kill(child.id() as i32, signal) };
        let _ = child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The data goes with the folder: nothing needs to be written any more.
        self.stop(libc::SIGKILL);
    }
}

fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

fn as_server_account(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C");
    if let Some((uid, gid)) = account("mysql") {
        command.uid(uid).gid(gid);
    }
    command
}
