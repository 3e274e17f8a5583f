//! The binary is static: it runs in an empty root and finds hosts by /etc/hosts and /etc/resolv.conf alone.
//! Needs root, for chroot and for the port of the name server.

use std::net::UdpSocket;
use std::os::unix::process::CommandExt;

use crate::support::cluster::PASSWORD;
use crate::support::driver::finish;
use crate::support::Database;

/// The name server's address: on the loopback device, and nobody else's.
const NAME_SERVER: &str = "127.77.0.53";

/// Answers queries for the address of db.bench.test with 127.0.0.1, and all others with "no such name".
fn serve_names() {
    let socket = UdpSocket::bind((NAME_SERVER, 53)).expect("port 53 of a loopback address (needs root)");
    std::thread::spawn(move || {
        let mut packet = [0; 512];
        loop {
            let (length, client) = socket.recv_from(&mut packet).unwrap();
            let question = &packet[12..length];
            let end = question.iter().position(|byte| *byte == 0).unwrap() + 5;
            let known = question.starts_with(b"\x02db\x05bench\x04test\x00");
            let address = known && question[end - 3] == 1;
            let mut answer = packet[..2].to_vec();
            answer.extend([0x81, if known { 0x80 } else { 0x83 }, 0, 1, 0, u8::from(address), 0, 0, 0, 0]);
            answer.extend(&question[..end]);
            if address {
                answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1]);
            }
            socket.send_to(&answer, client).unwrap();
        }
    });
}

#[test]
fn names_are_resolved_in_an_empty_root() {
    let database = Database::new();
    database.measured("tatp load --subscribers 10 --progress none");
    serve_names();
    let root = tempfile::tempdir().unwrap();
    let binary = root.path().join("dbbench-driver");
    std::fs::copy(env!("CARGO_BIN_EXE_dbbench-driver"), &binary).unwrap();
    std::fs::create_dir(root.path().join("etc")).unwrap();
    let resolver = format!("nameserver {NAME_SERVER}\nsearch bench.test cluster.local\noptions ndots:5\n");
    std::fs::write(root.path().join("etc/resolv.conf"), resolver).unwrap();
    std::fs::write(root.path().join("etc/hosts"), "127.0.0.1 localhost hosted\n").unwrap();

    let check = |host: &str| {
        let url = format!("postgres://bench@{host}:{}/{}", database.port(), database.name);
        let path = std::ffi::CString::new(root.path().to_str().unwrap()).unwrap();
        let mut command = std::process::Command::new("/dbbench-driver");
        command.args(["tatp", "check", "--progress", "none", "--connect-timeout", "2s", "--url", &url]);
        command.env_clear().env("DBBENCH_PASSWORD", PASSWORD);
        // SAFETY: chroot and chdir are system calls without allocation, as a forked child requires.
        unsafe {
            command.pre_exec(move || match libc::chroot(path.as_ptr()) + libc::chdir(c"/".as_ptr()) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        finish(command)
    };
    for host in ["hosted", "db", "db.bench.test"] {
        let outcome = check(host);
        assert_eq!(outcome.code, 0, "{host}: {}", outcome.stderr);
    }
    check("elsewhere").failed(3, "DatabaseUnreachable", "elsewhere");
}
