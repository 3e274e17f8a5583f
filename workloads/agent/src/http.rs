//! The agent's HTTP server.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use tiny_http::{Header, Method, Request, Response, Server};

use crate::cold::{ColdStarts, Refusal};
use crate::config::{AgentConfig, Readiness};
use crate::counters;
use crate::facts::Reader;
use crate::local_run::{self, LocalRuns};
use crate::page_cache::drop_files;
use crate::readiness;
use crate::scope::Scope;

/// Requests answered at one time: a slow readiness check must not delay the counters.
const THREADS: usize = 3;
/// How long a database that was ready is believed to be so: asking it costs it a process, and a kubelet
/// asks every second, also while the database is being measured.
const BELIEVED: Duration = Duration::from_secs(10);
/// Longest request for a run.
const REQUEST_BYTES: u64 = 64 << 10;

/// What `POST /v1/cold` does here.
pub enum Cold {
    /// Restarts the database, with its files out of the page cache.
    Database(Arc<ColdStarts>),
    /// Takes these files out of the page cache.
    Files(Vec<PathBuf>),
}

struct Answers {
    scope: Scope,
    cold: Option<Cold>,
    runs: LocalRuns,
    facts: Reader,
    readiness: Option<Readiness>,
    ready_at: Mutex<Option<Instant>>,
    /// Finds out what is costly about the facts, once the database answers.
    first_facts: Mutex<Option<JoinHandle<()>>>,
}

struct Answer {
    status: u16,
    content_type: &'static str,
    body: String,
}

/// Starts to answer on the configured address, in threads of its own, until the process ends.
/// Without `cold` a request for a cold start is refused.
pub fn start(scope: Scope, config: &AgentConfig, cold: Option<Cold>) -> Result<(), String> {
    let server = Server::http(&config.listen)
        .map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let server = Arc::new(server);
    let answers = Arc::new(Answers::new(scope, config, cold));
    for _ in 0..THREADS {
        let (server, answers) = (server.clone(), answers.clone());
        std::thread::spawn(move || {
            while let Ok(mut request) = server.recv() {
                let answer = answers.to(&mut request);
                let header = Header::from_bytes("Content-Type", answer.content_type).expect("a valid header");
                let response =
                    Response::from_string(answer.body).with_status_code(answer.status).with_header(header);
                // The client may be gone; that is its affair.
                let _ = request.respond(response);
            }
        });
    }
    Ok(())
}

impl Answers {
    fn new(scope: Scope, config: &AgentConfig, cold: Option<Cold>) -> Self {
        Self {
            scope,
            cold,
            runs: LocalRuns::new(config),
            facts: Reader::new(scope, config.clone()),
            readiness: config.readiness.clone(),
            ready_at: Mutex::new(None),
            first_facts: Mutex::new(None),
        }
    }

    fn to(self: &Arc<Self>, request: &mut Request) -> Answer {
        let path = request.url().split('?').next().unwrap_or_default().to_string();
        match (request.method(), path.as_str()) {
            (Method::Post, "/v1/cold") => return self.cold(),
            (Method::Post, "/v1/workload") => return self.prepare(request),
            (Method::Post, "/v1/workload/start") => return self.start(),
            (Method::Get | Method::Head, path) if path != "/v1/cold" && !path.starts_with("/v1/workload") => {
            }
            _ => return text(405, "only GET is answered here, and POST of /v1/cold and /v1/workload\n"),
        }
        match path.as_str() {
            "/healthz" => text(200, "ok\n"),
            "/readyz" => match self.ready() {
                Ok(()) => text(200, "ok\n"),
                Err(reason) => text(503, &format!("{reason}\n")),
            },
            "/v1/facts" => json(&self.facts.read()),
            "/v1/counters" => json(&counters::read(self.scope)),
            _ => text(404, "there are /healthz, /readyz, /v1/facts and /v1/counters\n"),
        }
    }
}

impl Answers {
    fn cold(&self) -> Answer {
        match &self.cold {
            None => {
                error(403, "cold starts are not allowed here: coldStarts is not set in the configuration")
            }
            Some(Cold::Files(files)) => match drop_files(files) {
                Ok(dropped) => json(&dropped),
                Err(reason) => error(500, &reason),
            },
            Some(Cold::Database(starts)) => match starts.perform() {
                Ok(start) => json(&start),
                Err(Refusal::Busy) => error(409, "a cold start is under way"),
                Err(Refusal::Failed(reason)) => error(500, &reason),
            },
        }
    }

    fn prepare(&self, request: &mut Request) -> Answer {
        let mut body = String::new();
        if let Err(reason) = request.as_reader().take(REQUEST_BYTES).read_to_string(&mut body) {
            return error(400, &reason.to_string());
        }
        match self.runs.prepare(&body) {
            Ok(()) => json(&serde_json::json!({ "state": "Ready" })),
            Err(refusal) => refused(refusal),
        }
    }

    fn start(&self) -> Answer {
        match self.runs.start() {
            Ok(document) => Answer { status: 200, content_type: "application/json", body: document },
            Err(refusal) => refused(refusal),
        }
    }

    fn ready(self: &Arc<Self>) -> Result<(), String> {
        // Down by request, for a client that needs its network path to stay.
        if matches!(&self.cold, Some(Cold::Database(starts)) if starts.under_way()) {
            return Ok(());
        }
        let readiness = self.readiness.as_ref().ok_or("no readiness check is configured")?;
        let mut ready_at = self.ready_at.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if ready_at.is_some_and(|then| then.elapsed() < BELIEVED) {
            return Ok(());
        }
        *ready_at = None;
        readiness::check(readiness)?;
        if !self.has_facts() {
            return Err("the database answers; its server's files are being hashed".into());
        }
        *ready_at = Some(Instant::now());
        Ok(())
    }

    /// Whether the costly part of the facts is known. Under emulation hashing takes longer than a client waits for an answer,
    /// and it must not take CPU from a database that is being measured: so it is done before anybody is told to connect.
    fn has_facts(self: &Arc<Self>) -> bool {
        let mut first = self.first_facts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let reading = first.get_or_insert_with(|| {
            let answers = self.clone();
            std::thread::spawn(move || drop(answers.facts.read()))
        });
        reading.is_finished()
    }
}

fn text(status: u16, body: &str) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body: body.to_string() }
}

fn error(status: u16, reason: &str) -> Answer {
    Answer { status, ..json(&serde_json::json!({ "error": reason })) }
}

fn refused(refusal: local_run::Refusal) -> Answer {
    use local_run::Refusal::{Failed, Lost, Malformed, NotAllowed, NotPrepared};
    match refusal {
        Malformed(reason) => error(400, &reason),
        NotAllowed(reason) => error(403, &reason),
        NotPrepared => error(409, "no run waits to be started: another request may have ended it"),
        Failed(line) => Answer { status: 422, content_type: "application/json", body: line },
        Lost(reason) => error(500, &reason),
    }
}

fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(body) => Answer { status: 200, content_type: "application/json", body },
        Err(error) => text(500, &format!("{error}\n")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;
    use crate::config::Protocol;

    /// Greets like MySQL whoever connects, for as long as the test runs.
    fn database() -> Readiness {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = stream.unwrap().write_all(b"\x08\0\0\0\x0a8.4.0\0\x01");
            }
        });
        Readiness { protocol: Protocol::MySQL, port }
    }

    #[test]
    fn a_database_is_ready_when_its_server_s_files_have_been_hashed() {
        let config = AgentConfig { readiness: Some(database()), ..AgentConfig::default() };
        let answers = Arc::new(Answers::new(Scope::Container, &config, None));
        let (done, hashing) = std::sync::mpsc::channel::<()>();
        *answers.first_facts.lock().unwrap() = Some(std::thread::spawn(move || hashing.recv().unwrap()));
        assert!(answers.ready().unwrap_err().contains("being hashed"));
        done.send(()).unwrap();
        while answers.ready().is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn hashing_begins_when_the_database_answers() {
        let config = AgentConfig { readiness: Some(database()), ..AgentConfig::default() };
        let answers = Arc::new(Answers::new(Scope::Container, &config, None));
        let _ = answers.ready();
        assert!(answers.first_facts.lock().unwrap().is_some());
    }

    #[test]
    fn a_database_that_does_not_answer_is_not_hashed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let readiness = Readiness { protocol: Protocol::MySQL, port: listener.local_addr().unwrap().port() };
        drop(listener);
        let config = AgentConfig { readiness: Some(readiness), ..AgentConfig::default() };
        let answers = Arc::new(Answers::new(Scope::Container, &config, None));
        assert!(answers.ready().is_err());
        assert!(answers.first_facts.lock().unwrap().is_none());
    }
}
