//! The agent's answers in the document, from a server that speaks its protocol.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::support::Database;

/// Answers requests until the process ends; counters rise with each one.
fn agent() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut part = [0; 1024];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let length = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..length]);
            }
            let path = String::from_utf8_lossy(&request).split(' ').nth(1).unwrap().to_string();
            let mut log = log.lock().unwrap();
            log.push(path.clone());
            let body = match path.as_str() {
                "/v1/facts" => r#"{"kernel":"6.1","emulated":false}"#.to_string(),
                _ => format!(r#"{{"uptimeSeconds":{}}}"#, log.len()),
            };
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    (url, asked)
}

#[test]
fn facts_and_counters_stand_in_the_document_word_for_word() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    let (url, asked) = agent();
    let run = database.measured(&format!("tatp run --warmup 1s --duration 1s --agent {url} --progress none"));
    assert_eq!(*asked.lock().unwrap(), ["/v1/facts", "/v1/counters", "/v1/counters"]);
    assert_eq!(run["target"]["facts"], serde_json::json!({"kernel": "6.1", "emulated": false}));
    assert_eq!(run["target"]["before"]["uptimeSeconds"], 2);
    assert_eq!(run["target"]["after"]["uptimeSeconds"], 3);
}

#[test]
fn the_view_from_outside_the_guest_stands_beside_the_inner_one() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    let ((inner, _), (outer, asked)) = (agent(), agent());
    let line = "tatp run --warmup 1s --duration 1s --progress none";
    let run = database.measured(&format!("{line} --agent {inner} --host-agent {outer}"));
    assert_eq!(*asked.lock().unwrap(), ["/v1/facts", "/v1/counters", "/v1/counters"]);
    let host = &run["target"]["host"];
    assert_eq!(host["facts"]["kernel"], "6.1");
    assert_eq!((&host["before"]["uptimeSeconds"], &host["after"]["uptimeSeconds"]), (&2.into(), &3.into()));
    database.driver(&format!("{line} --host-agent {outer}")).failed(2, "InvalidArguments", "--agent");
}

#[test]
fn an_agent_that_was_asked_for_and_is_not_there_ends_the_run_with_code_3() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    let port = crate::support::cluster::free_port();
    let mut command =
        crate::support::driver::driver(&["tatp", "run", "--duration", "1s", "--connect-timeout", "1s"]);
    command.args(["--url", &database.url(), "--agent", &format!("http://127.0.0.1:{port}")]);
    command.env("DBBENCH_PASSWORD", crate::support::cluster::PASSWORD);
    let outcome = crate::support::driver::finish(command);
    outcome.failed(3, "AgentUnreachable", &format!("127.0.0.1:{port}/v1/facts"));
    assert_eq!(outcome.stdout, "");
}
