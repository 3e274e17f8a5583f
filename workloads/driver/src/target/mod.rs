//! The agent beside the database: its facts, its counters, and a cold start when it is asked for.

mod growth;

use std::time::{Duration, Instant};

use bytes::Bytes;
use dbbench_agent::local_run::LocalRun;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::failure::{Exit, Failure};
use crate::report::{Host, Target};

pub use growth::{bytes_read, growth};

const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// A name server or a node's rules for a service that are new can take moments to know an agent that answered just now.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const CONNECT_PAUSE: Duration = Duration::from_millis(250);
/// A cold start stops the database in order, writes what is dirty, and starts the database again.
const COLD_LIMIT: Duration = Duration::from_secs(300);
/// Filling tables takes a guest that is emulated minutes.
const PREPARE_LIMIT: Duration = Duration::from_secs(1800);
/// A workload's last words come this long after its window at most.
const RESULT_LIMIT: Duration = Duration::from_secs(300);
const BODY_LIMIT: usize = 4 << 20;

/// A reachable agent, by the address of its HTTP server.
#[derive(Debug, Clone)]
pub struct Agent {
    host: String,
    port: u16,
}

impl Agent {
    /// Reads the `http://host:port` that an option gave. There is no TLS and no path.
    pub fn new(option: &str, url: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::arguments(format!("{option} {why} (expected http://host:port)"));
        let uri: Uri = url.parse().map_err(|_| wrong("is not a URL"))?;
        if uri.scheme_str() != Some("http") {
            return Err(wrong("must begin with http://"));
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("must not carry a user or a password"));
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(wrong("must not have a path"));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("names no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
        Ok(Agent { host, port: uri.port_u16().unwrap_or(9590) })
    }

    /// What does not change: kernel, CPU, memory, mounts. Waits up to `patience` for the agent to come up.
    pub async fn facts(&self, patience: Duration) -> Result<Value, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            match self.get("/v1/facts").await {
                Err(_) if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(500)).await,
                outcome => return outcome,
            }
        }
    }

    /// Counters of the database's processes and of its cgroup, right now.
    pub async fn counters(&self) -> Result<Value, Failure> {
        self.get("/v1/counters").await
    }

    /// Makes what the agent is beside cold: the database restarts with nothing of its data in the page cache;
    /// beside a hypervisor, the guest's disks leave the page cache. Returns the agent's account of it.
    pub async fn make_cold(&self) -> Result<Value, Failure> {
        let path = "/v1/cold";
        let (status, body) = self.send(Method::POST, path, Bytes::new(), COLD_LIMIT).await?;
        if status.is_success() {
            return self.parse(path, &body);
        }
        Err(Failure::new(Exit::Invalid, "NotCold", self.refusal(path, status, &body)))
    }

    /// Has the agent get a workload ready where it is, up to the moment at which it could begin.
    pub async fn prepare(&self, run: &LocalRun) -> Result<(), Failure> {
        let body = serde_json::to_vec(run).expect("a request is plain data");
        self.workload("/v1/workload", body.into(), PREPARE_LIMIT).await.map(drop)
    }

    /// Lets the workload that is ready begin, which takes so long; returns its result document.
    pub async fn start(&self, takes: Duration) -> Result<Value, Failure> {
        self.workload("/v1/workload/start", Bytes::new(), takes + RESULT_LIMIT).await
    }

    async fn workload(&self, path: &str, body: Bytes, limit: Duration) -> Result<Value, Failure> {
        let (status, body) = self.send(Method::POST, path, body, limit).await?;
        if status.is_success() {
            return self.parse(path, &body);
        }
        let said = serde_json::from_slice(&body).ok().and_then(|said| Failure::of_json(&said));
        Err(said.unwrap_or_else(|| Failure::invalid(self.refusal(path, status, &body))))
    }

    /// An agent's answer that is none, in words.
    fn refusal(&self, path: &str, status: StatusCode, body: &[u8]) -> String {
        let said = serde_json::from_slice::<Value>(body).ok();
        let words = said.as_ref().and_then(|said| said.get("error")?.as_str()).map(str::to_string);
        let words = words.unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_string());
        format!("agent at {}:{}{path}: status {status}: {words}", self.host, self.port)
    }

    async fn get(&self, path: &str) -> Result<Value, Failure> {
        match self.send(Method::GET, path, Bytes::new(), REQUEST_LIMIT).await? {
            (status, body) if status.is_success() => self.parse(path, &body),
            (status, _) => Err(self.unreachable(path, &format!("status {status}"))),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        limit: Duration,
    ) -> Result<(StatusCode, Bytes), Failure> {
        match tokio::time::timeout(limit, self.request(method, path, body)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(reason)) => Err(self.unreachable(path, &reason)),
            Err(_) => Err(self.unreachable(path, &format!("no answer within {} s", limit.as_secs()))),
        }
    }

    fn parse(&self, path: &str, body: &[u8]) -> Result<Value, Failure> {
        serde_json::from_slice(body)
            .map_err(|error| self.unreachable(path, &format!("the answer is not JSON: {error}")))
    }

    fn unreachable(&self, path: &str, reason: &str) -> Failure {
        let message = format!("agent at {}:{}{path}: {reason}", self.host, self.port);
        Failure::new(Exit::Unreachable, "AgentUnreachable", message)
    }

    /// A connection, tried again for `CONNECT_LIMIT`: nothing has been asked of the agent before it.
    async fn connect(&self) -> std::io::Result<TcpStream> {
        let deadline = Instant::now() + CONNECT_LIMIT;
        loop {
            match TcpStream::connect((self.host.as_str(), self.port)).await {
                Err(_) if Instant::now() + CONNECT_PAUSE < deadline => {
                    tokio::time::sleep(CONNECT_PAUSE).await
                }
                outcome => return outcome,
            }
        }
    }

    async fn request(&self, method: Method, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), String> {
        let stream = self.connect().await.map_err(|e| e.to_string())?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
        let pump = tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", format!("{}:{}", self.host, self.port))
            .header("connection", "close")
            .body(Full::new(body))
            .map_err(|e| e.to_string())?;
        let response = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let status = response.status();
        let body =
            Limited::new(response.into_body(), BODY_LIMIT).collect().await.map_err(|e| e.to_string())?;
        pump.abort();
        Ok((status, body.to_bytes()))
    }
}

/// The agents of one target.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    /// Beside the database: in its container, or in the guest.
    pub target: Option<Agent>,
    /// Beside the hypervisor: what the guest costs the host.
    pub host: Option<Agent>,
}

/// Looks at the target before and after the measured window, where agents were named.
pub struct Observer {
    agents: Agents,
    target: Target,
}

impl Observer {
    /// Reads the facts; waits up to `patience` for the agents.
    pub async fn new(agents: Agents, patience: Duration) -> Result<Self, Failure> {
        let mut target = Target::default();
        if let Some(agent) = &agents.target {
            target.facts = Some(agent.facts(patience).await?);
        }
        if let Some(agent) = &agents.host {
            let facts = agent.facts(patience).await?;
            target.host = Some(Host { facts, ..Host::default() });
        }
        Ok(Observer { agents, target })
    }

    /// To be called right before the measured window.
    pub async fn before(&mut self) -> Result<(), Failure> {
        if let Some(agent) = &self.agents.target {
            self.target.before = Some(agent.counters().await?);
        }
        if let (Some(agent), Some(host)) = (&self.agents.host, &mut self.target.host) {
            host.before = agent.counters().await?;
        }
        Ok(())
    }

    /// To be called right after the measured window.
    pub async fn after(&mut self) -> Result<(), Failure> {
        if let (Some(agent), Some(host)) = (&self.agents.host, &mut self.target.host) {
            host.after = agent.counters().await?;
        }
        if let Some(agent) = &self.agents.target {
            self.target.after = Some(agent.counters().await?);
        }
        Ok(())
    }

    pub fn into_target(self) -> Target {
        self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_an_agent_is_plain_http_without_a_path() {
        let agent = Agent::new("--agent", "http://db.example:9591").unwrap();
        assert_eq!((agent.host.as_str(), agent.port), ("db.example", 9591));
        assert_eq!(Agent::new("--agent", "http://db.example/").unwrap().port, 9590);
        assert_eq!(Agent::new("--agent", "http://[::1]:9590").unwrap().host, "::1");
        for wrong in ["https://h:1", "h:9590", "http://h/v1", "http://u:p@h", "not a url", ""] {
            assert!(Agent::new("--agent", wrong).unwrap_err().message.contains("--agent"), "{wrong}");
        }
    }
}
