//! A temporary PostgreSQL cluster on a free loopback port, shared by the tests that run at the same time.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::authority::Certificate;

pub const PASSWORD: &str = "correct-horse-42";
const USER: &str = "bench";

/// Ports of the tests' servers.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 12_000;

/// A database of its own on the shared server.
pub struct Database {
    cluster: Arc<Cluster>,
    pub name: String,
}

/// A running server; ends with its last user.
pub struct Cluster {
    folder: tempfile::TempDir,
    bin: PathBuf,
    pub port: u16,
    /// Of the agent that starts the server, where there is one.
    agent: Option<u16>,
    server: Mutex<Option<Child>>,
}

static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Database {
    /// A new, empty database.
    pub fn new() -> Self {
        let cluster = {
            let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            shared.upgrade().unwrap_or_else(|| {
                let cluster = Arc::new(Cluster::start(None));
                *shared = Arc::downgrade(&cluster);
                cluster
            })
        };
        Database::on(cluster)
    }

    /// A database on a server that the test may stop.
    pub fn on_own_server() -> Self {
        Database::on(Arc::new(Cluster::start(None)))
    }

    /// A database on a server that the agent has started, which may restart it.
    pub fn under_agent() -> Self {
        Database::on(Arc::new(Cluster::start(Some(free_port()))))
    }

    /// The agent's address.
    pub fn agent(&self) -> String {
        format!("http://127.0.0.1:{}", self.cluster.agent.expect("a server under an agent"))
    }

    /// A database in a tablespace of its own, on the file system of this folder.
    pub fn in_folder(folder: &Path) -> Self {
        let database = Database::on_own_server();
        let place = folder.join("tablespace");
        std::fs::create_dir(&place).unwrap();
        if let Some((uid, gid)) = account("postgres") {
            std::os::unix::fs::chown(&place, Some(uid), Some(gid)).unwrap();
        }
        let cluster = &database.cluster;
        cluster.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", place.display()));
        cluster.sql("postgres", &format!("ALTER DATABASE {} SET TABLESPACE small", database.name));
        database
    }

    fn on(cluster: Arc<Cluster>) -> Self {
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        cluster.sql("postgres", &format!("CREATE DATABASE {name}"));
        Database { cluster, name }
    }

    pub fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    /// The database that the agent's configuration names.
    pub fn agents_url(&self) -> String {
        self.cluster.url("postgres")
    }

    pub fn port(&self) -> u16 {
        self.cluster.port
    }

    /// Runs SQL and returns what psql prints without decoration.
    pub fn sql(&self, sql: &str) -> String {
        self.cluster.sql(&self.name, sql)
    }

    /// Switches TLS on with this certificate, for connections from now on.
    pub fn serve_with(&self, certificate: &Certificate) {
        let files = certificate.copy_to(&self.cluster.data());
        for file in [&files.certificate, &files.key] {
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((uid, gid)) = account("postgres") {
                std::os::unix::fs::chown(file, Some(uid), Some(gid)).unwrap();
            }
        }
        self.set("ssl_key_file", files.key.to_str().unwrap());
        self.set("ssl_cert_file", files.certificate.to_str().unwrap());
        self.set("ssl", "on");
    }

    /// Refuses connections without TLS from now on.
    pub fn demand_tls(&self) {
        let rules = self.cluster.data().join("pg_hba.conf");
        std::fs::write(&rules, "hostssl all all all scram-sha-256\n").unwrap();
        // Rules show no sign of having been read; settings do, and the server reads both at once.
        self.set("authentication_timeout", "59s");
    }

    /// Changes a setting of the server, for connections from now on.
    pub fn set(&self, name: &str, value: &str) {
        self.sql(&format!("ALTER SYSTEM SET {name} TO '{value}'"));
        self.sql("SELECT pg_reload_conf()");
        wait_until("the server has read its settings", || self.sql(&format!("SHOW {name}")) == value);
    }

    /// Ends the server at once, as a crash would.
    pub fn kill_server(&self) {
        self.cluster.stop(libc::SIGQUIT);
    }

    /// Stops every process of the server in its tracks, and lets them go on after at least `time`.
    pub fn freeze_server(&self, time: Duration) {
        self.cluster.freeze(time);
    }

    pub fn start_server(&self) {
        self.cluster.launch();
    }
}

impl Cluster {
    fn start(agent: Option<u16>) -> Self {
        let bin = binaries();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cluster = Cluster { port: free_port(), agent, folder, bin, server: Mutex::new(None) };
        std::fs::set_permissions(cluster.folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let secret = cluster.folder.path().join("password");
        std::fs::write(&secret, PASSWORD).unwrap();
        let data = cluster.data();
        std::fs::create_dir(&data).unwrap();
        if let Some((uid, gid)) = account("postgres") {
            std::os::unix::fs::chown(&data, Some(uid), Some(gid)).unwrap();
        }
        let made = as_server_account(&cluster.bin.join("initdb"))
            .args(["--auth=scram-sha-256", "--no-sync", "--encoding=UTF8", "--locale=C", "--username", USER])
            .arg("--pwfile")
            .arg(&secret)
            .arg("--pgdata")
            .arg(&data)
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        cluster.launch();
        cluster
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn launch(&self) {
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let port = self.port.to_string();
        let (server, data) = (self.bin.join("postgres"), self.data());
        let mut line = vec![server.to_str().unwrap(), "-D", data.to_str().unwrap(), "-p", &port];
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=off",
            "shared_buffers=64MB",
            "max_connections=100",
            "autovacuum=off",
        ] {
            line.extend(["-c", setting]);
        }
        let mut command = match self.agent {
            None => {
                let mut command = as_server_account(&server);
                command.args(&line[1..]);
                command
            }
            Some(agent) => {
                let config = self.folder.path().join("agent.json");
                let text = serde_json::json!({
                    "version": 1, "listen": format!("127.0.0.1:{agent}"), "command": line,
                    "dataDirectory": data, "readiness": {"protocol": "PostgreSQL", "port": self.port},
                    "stopSignal": "SIGINT", "coldStarts": true,
                    "workloads": ["tpch", "tatp"],
                    "database": {"url": self.url("postgres"), "passwordFile": self.folder.path().join("password")},
                });
                std::fs::write(&config, text.to_string()).unwrap();
                let mut command = as_server_account(Path::new(env!("CARGO_BIN_EXE_dbbench-driver")));
                command.args(["agent", "serve", "--config"]).arg(config);
                command
            }
        };
        let child = command.stdout(Stdio::null()).stderr(log).spawn().expect("the server starts");
        *self.server.lock().unwrap() = Some(child);
        let began = Instant::now();
        while self.psql("postgres", "SELECT 1").is_err() {
            if began.elapsed() > Duration::from_secs(120) {
                let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("PostgreSQL does not come up: {log}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn stop(&self, signal: i32) {
        let Some(mut child) = self.server.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
        else {
            return;
        };
        // SAFETY: the child has not been waited for, so its id is still its own.
        unsafe { libc::kill(child.id() as i32, signal) };
        let _ = child.wait();
    }

    fn freeze(&self, time: Duration) {
        let server = self.server.lock().unwrap().as_ref().expect("a running server").id();
        // The father first, so that it starts no children meanwhile and misses none that stops.
        signal(server, libc::SIGSTOP);
        let children = children(server);
        children.iter().for_each(|child| signal(*child, libc::SIGSTOP));
        std::thread::sleep(time);
        children.iter().chain([&server]).for_each(|process| signal(*process, libc::SIGCONT));
    }

    fn psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let output = Command::new(self.bin.join("psql"))
            .args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", USER])
            .args(["-p", &self.port.to_string(), "-d", database, "-c", sql])
            .env("PGPASSWORD", PASSWORD)
            .output()
            .expect("psql runs");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string())
    }

    fn sql(&self, database: &str, sql: &str) -> String {
        self.psql(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A fast shutdown: open sessions are ended.
        self.stop(libc::SIGINT);
    }
}

/// A process that has ended meanwhile needs no signal.
fn signal(process: u32, signal: i32) {
    // SAFETY: the call takes no pointers; the processes are those of a server that this test has started.
    unsafe { libc::kill(process as i32, signal) };
}

fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        // The name, in brackets, may hold anything; after it come the state and the father.
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        rest.split_whitespace().nth(1) == Some(&parent.to_string())
    })
    .collect()
}

/// The newest server that Debian's packages have put here.
fn binaries() -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .expect("PostgreSQL is installed (apt-get install postgresql)")
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").exists() && bin.join("postgres").exists())
        .collect();
    versions.sort();
    versions.pop().expect("a PostgreSQL server below /usr/lib/postgresql").1
}

/// Servers refuse to run as root: then the account of their package is used.
pub fn account(package: &str) -> Option<(u32, u32)> {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").expect("/etc/passwd");
    let find = |name: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let fields: Vec<&str> = line.split(':').collect();
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    Some(find(package).or_else(|| find("nobody")).expect("an account that is not root's"))
}

fn as_server_account(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C");
    if let Some((uid, gid)) = account("postgres") {
        command.uid(uid).gid(gid);
    }
    command
}

/// A port of the loopback device on which nobody listens, out of the range that the kernel gives to connections:
/// none of them takes it before the server does.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..PORTS {
        let number = std::process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST_PORT + (number % u32::from(PORTS)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port from {FIRST_PORT} on");
}

/// Waits until the server of a port has gone.
pub fn wait_until_closed(port: u16) {
    wait_until("the server has gone", || TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Waits for what must come in a minute or two.
pub fn wait_until(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < Duration::from_secs(120), "after two minutes not yet: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
