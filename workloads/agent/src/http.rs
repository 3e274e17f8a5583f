//! The agent's HTTP server.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;
use tiny_http::{Header, Method, Request, Response, Server};

use crate::cold::{ColdStarts, Refusal};
use crate::config::{AgentConfig, Readiness};
use crate::counters;
use crate::facts::Reader;
use crate::page_cache::drop_files;
use crate::readiness;
use crate::scope::Scope;

/// Requests answered at one time: a slow readiness check must not delay the counters.
const THREADS: usize = 3;
/// How long a database that was ready is believed to be so: asking it costs it a process, and a kubelet
/// asks every second, also while the database is being measured.
const BELIEVED: Duration = Duration::from_secs(10);

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
    facts: Reader,
    readiness: Option<Readiness>,
    ready_at: Mutex<Option<Instant>>,
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
    let answers = Arc::new(Answers {
        scope,
        cold,
        facts: Reader::new(scope, config.clone()),
        readiness: config.readiness.clone(),
        ready_at: Mutex::new(None),
    });
    for _ in 0..THREADS {
        let (server, answers) = (server.clone(), answers.clone());
        std::thread::spawn(move || {
            while let Ok(request) = server.recv() {
                let answer = answers.to(&request);
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
    fn to(&self, request: &Request) -> Answer {
        let path = request.url().split('?').next().unwrap_or_default();
        match (request.method(), path) {
            (Method::Post, "/v1/cold") => return self.cold(),
            (Method::Get | Method::Head, _) if path != "/v1/cold" => {}
            _ => return text(405, "only GET is answered here, and POST /v1/cold\n"),
        }
        match path {
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

    fn ready(&self) -> Result<(), String> {
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
        *ready_at = Some(Instant::now());
        Ok(())
    }
}

fn text(status: u16, body: &str) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body: body.to_string() }
}

fn error(status: u16, reason: &str) -> Answer {
    Answer { status, ..json(&serde_json::json!({ "error": reason })) }
}

fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(body) => Answer { status: 200, content_type: "application/json", body },
        Err(error) => text(500, &format!("{error}\n")),
    }
}
