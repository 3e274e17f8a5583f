//! The agent's HTTP server.

use std::sync::Arc;

use serde::Serialize;
use tiny_http::{Header, Method, Request, Response, Server};

use crate::config::{AgentConfig, Readiness};
use crate::counters;
use crate::facts::Reader;
use crate::readiness;
use crate::scope::Scope;

/// Requests answered at one time: a slow readiness check must not delay the counters.
const THREADS: usize = 3;

struct Answers {
    scope: Scope,
    facts: Reader,
    readiness: Option<Readiness>,
}

struct Answer {
    status: u16,
    content_type: &'static str,
    body: String,
}

/// Starts to answer on the configured address, in threads of its own, until the process ends.
pub fn start(scope: Scope, config: &AgentConfig) -> Result<(), String> {
    let server = Server::http(&config.listen).map_err(|error| format!("cannot listen on {}: {error}", config.listen))?;
    let server = Arc::new(server);
    let answers = Arc::new(Answers {
        scope,
        facts: Reader::new(scope, config.clone()),
        readiness: config.readiness.clone(),
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
        if !matches!(request.method(), Method::Get | Method::Head) {
            return text(405, "only GET is answered here\n");
        }
        match request.url().split('?').next().unwrap_or_default() {
            "/healthz" => text(200, "ok\n"),
            "/readyz" => match self.readiness.as_ref().map(readiness::check) {
                Some(Ok(())) => text(200, "ok\n"),
                Some(Err(reason)) => text(503, &format!("{reason}\n")),
                None => text(503, "no readiness check is configured\n"),
            },
            "/v1/facts" => json(&self.facts.read()),
            "/v1/counters" => json(&counters::read(self.scope)),
            _ => text(404, "there are /healthz, /readyz, /v1/facts and /v1/counters\n"),
        }
    }
}

fn text(status: u16, body: &str) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body: body.to_string() }
}

fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(body) => Answer { status: 200, content_type: "application/json", body },
        Err(error) => text(500, &format!("{error}\n")),
    }
}
