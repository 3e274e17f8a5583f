//! Several driver processes, on one node or on several, that start each window together and merge what they
//! measured. One leads: the others connect to it. Each message is a JSON document after its length.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::{Member, Tally, Usage};
use crate::failure::{Exit, Failure};

/// The processes are told a moment ahead, so that they begin together.
const LEAD: Duration = Duration::from_millis(200);
/// A process that has ended its windows this much earlier than another one stops waiting for it.
const LAGGARD_LIMIT: Duration = Duration::from_secs(300);
const HELLO_LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(200);
/// What one process measured takes far less.
const LONGEST_MESSAGE: usize = 64 << 20;

/// How this process finds the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Muster {
    pub role: Role,
    pub member: Member,
    /// How long to wait for the others.
    pub patience: Duration,
    /// What all processes must have in common.
    pub parameters: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Waits for the others at this address.
    Lead(String),
    /// Joins the process that leads at this address.
    Follow(String),
}

/// What one process measured.
#[derive(Clone, Serialize, Deserialize)]
pub struct Part {
    pub index: u32,
    pub clients: usize,
    pub usage: Usage,
    pub tally: Tally,
}

#[derive(Serialize, Deserialize)]
enum Message {
    /// A follower's first.
    Hello { version: String, index: u32, processes: u32, parameters: String },
    /// The leader's answer to a follower that does not fit.
    Refused(String),
    /// A follower has done what comes before a window.
    Ready,
    /// The leader lets the window begin after so many nanoseconds.
    Go(u64),
    /// A follower's measurement.
    Part(Box<Part>),
    /// The leader has all parts.
    Merged,
}

/// This process among the others, connected.
pub struct Team {
    lead: bool,
    links: Vec<Link>,
    inbox: mpsc::UnboundedReceiver<(u32, Result<Message, String>)>,
    patience: Duration,
}

struct Link {
    index: u32,
    writer: OwnedWriteHalf,
    ready: bool,
    go: Option<Instant>,
    part: Option<Part>,
    merged: bool,
}

impl Team {
    /// Waits until all processes are there.
    pub async fn assemble(muster: &Muster) -> Result<Team, Failure> {
        let (events, inbox) = mpsc::unbounded_channel();
        let (lead, links) = match &muster.role {
            Role::Lead(address) => (true, gather(muster, address, &events).await?),
            Role::Follow(address) => (false, vec![join(muster, address, &events).await?]),
        };
        Ok(Team { lead, links, inbox, patience: muster.patience })
    }

    /// Returns the moment at which all processes begin a window. `spread` is how much longer than another one a
    /// process may take to get here.
    pub async fn begin(&mut self, spread: Duration) -> Result<Instant, Failure> {
        let limit = self.patience + LAGGARD_LIMIT + spread;
        if self.lead {
            self.wait(limit, "to get ready", |link| link.ready).await?;
            let start = Instant::now() + LEAD;
            for link in &mut self.links {
                link.ready = false;
                link.send(&Message::Go(LEAD.as_nanos() as u64)).await?;
            }
            return Ok(start);
        }
        self.links[0].send(&Message::Ready).await?;
        self.wait(limit, "to let the window begin", |link| link.go.is_some()).await?;
        Ok(self.links[0].go.take().unwrap_or_else(Instant::now))
    }

    /// Ends only with the loss of another process.
    pub async fn lost(&mut self) -> Failure {
        loop {
            if let Err(failure) = self.receive().await {
                return failure;
            }
        }
    }

    /// Sends this process' part to the leader; the leader returns the parts of the others.
    pub async fn merge(&mut self, part: Part) -> Result<Vec<Part>, Failure> {
        if self.lead {
            self.wait(LAGGARD_LIMIT, "to report", |link| link.part.is_some()).await?;
            for link in &mut self.links {
                link.send(&Message::Merged).await?;
            }
            return Ok(self.links.iter_mut().filter_map(|link| link.part.take()).collect());
        }
        self.links[0].send(&Message::Part(Box::new(part))).await?;
        self.wait(LAGGARD_LIMIT, "to merge", |link| link.merged).await?;
        Ok(Vec::new())
    }

    async fn wait(&mut self, limit: Duration, what: &str, done: fn(&Link) -> bool) -> Result<(), Failure> {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            let missing: Vec<u32> =
                self.links.iter().filter(|link| !done(link)).map(|link| link.index).collect();
            if missing.is_empty() {
                return Ok(());
            }
            match tokio::time::timeout_at(deadline, self.receive()).await {
                Ok(received) => received?,
                Err(_) => {
                    return Err(lost(format!(
                        "waited {} s for {} {what}",
                        limit.as_secs(),
                        processes(&missing)
                    )));
                }
            }
        }
    }

    async fn receive(&mut self) -> Result<(), Failure> {
        let Some((index, message)) = self.inbox.recv().await else {
            // Alone from the start: nobody can be lost.
            return std::future::pending().await;
        };
        let link = self.links.iter_mut().find(|link| link.index == index);
        let link = link.ok_or_else(|| lost(format!("process {index} is not known")))?;
        match message {
            Ok(Message::Ready) => link.ready = true,
            Ok(Message::Go(nanoseconds)) => {
                link.go = Some(Instant::now() + Duration::from_nanos(nanoseconds));
            }
            Ok(Message::Part(part)) => link.part = Some(*part),
            Ok(Message::Merged) => link.merged = true,
            Ok(Message::Refused(reason)) => return Err(Failure::arguments(reason)),
            Ok(Message::Hello { .. }) => return Err(lost(format!("process {index} began again"))),
            // A follower that has reported, or a leader that has merged, may go.
            Err(_) if link.part.is_some() || link.merged => {}
            Err(error) => {
                return Err(lost(format!("process {index} has gone: {error}")));
            }
        }
        Ok(())
    }
}

impl Link {
    fn new(
        index: u32,
        stream: TcpStream,
        events: &mpsc::UnboundedSender<(u32, Result<Message, String>)>,
    ) -> Self {
        let (mut reader, writer) = stream.into_split();
        let events = events.clone();
        tokio::spawn(async move {
            loop {
                let message = read(&mut reader).await;
                let ended = message.is_err();
                // No receiver means that the run is over.
                if events.send((index, message)).is_err() || ended {
                    break;
                }
            }
        });
        Link { index, writer, ready: false, go: None, part: None, merged: false }
    }

    async fn send(&mut self, message: &Message) -> Result<(), Failure> {
        let sent = write(&mut self.writer, message).await;
        sent.map_err(|error| lost(format!("process {} has gone: {error}", self.index)))
    }
}

/// Lets the other processes in, until all are there.
async fn gather(
    muster: &Muster,
    address: &str,
    events: &mpsc::UnboundedSender<(u32, Result<Message, String>)>,
) -> Result<Vec<Link>, Failure> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::arguments(format!("--barrier-listen {address}: {error}")))?;
    let deadline = tokio::time::Instant::now() + muster.patience;
    let (hellos, mut arrivals) = mpsc::unbounded_channel();
    let mut links: Vec<Link> = Vec::new();
    while links.len() + 1 < muster.member.processes as usize {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((mut stream, _)) = accepted else { continue };
                let hellos = hellos.clone();
                tokio::spawn(async move {
                    // Whoever connects and says nothing sensible (a health check) is no process of this run.
                    if let Ok(Ok(message)) = tokio::time::timeout(HELLO_LIMIT, read_from(&mut stream)).await {
                        let _ = hellos.send((stream, message));
                    }
                });
            }
            Some((mut stream, hello)) = arrivals.recv() => {
                let taken: Vec<u32> = links.iter().map(|link| link.index).collect();
                match fits(muster, &taken, &hello) {
                    Ok(index) => links.push(Link::new(index, stream, events)),
                    Err(reason) => {
                        let _ = write(&mut stream, &Message::Refused(reason.clone())).await;
                        return Err(Failure::arguments(reason));
                    }
                }
            }
            () = tokio::time::sleep_until(deadline) => {
                let there = |index: &u32| *index != muster.member.index && links.iter().all(|l| l.index != *index);
                let missing: Vec<u32> = (0..muster.member.processes).filter(there).collect();
                return Err(lost(format!(
                    "{} of {} did not arrive at {address} within {} s",
                    processes(&missing), muster.member.processes, muster.patience.as_secs_f64()
                )));
            }
        }
    }
    Ok(links)
}

/// The index of a process that may join, or why it may not.
fn fits(muster: &Muster, taken: &[u32], hello: &Message) -> Result<u32, String> {
    let Message::Hello { version, index, processes, parameters } = hello else {
        return Err("a process did not introduce itself".into());
    };
    if version != env!("CARGO_PKG_VERSION") {
        return Err(format!("process {index} is driver {version}, not {}", env!("CARGO_PKG_VERSION")));
    }
    if *processes != muster.member.processes {
        return Err(format!("process {index} has --processes {processes}, not {}", muster.member.processes));
    }
    if *index == muster.member.index || taken.contains(index) {
        return Err(format!("two processes have --process-index {index}"));
    }
    if *parameters != muster.parameters {
        return Err(format!(
            "process {index} measures something else: {parameters}, and the leader {}",
            muster.parameters
        ));
    }
    Ok(*index)
}

/// Connects to the leader; waits for one that is not up yet.
async fn join(
    muster: &Muster,
    address: &str,
    events: &mpsc::UnboundedSender<(u32, Result<Message, String>)>,
) -> Result<Link, Failure> {
    let deadline = Instant::now() + muster.patience;
    let mut stream = loop {
        match tokio::time::timeout(HELLO_LIMIT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => break stream,
            Err(_) | Ok(Err(_)) if Instant::now() + PAUSE < deadline => tokio::time::sleep(PAUSE).await,
            outcome => {
                let why = outcome.map_or("no answer".into(), |failed| {
                    failed.err().map_or(String::new(), |error| error.to_string())
                });
                let seconds = muster.patience.as_secs_f64();
                return Err(lost(format!("no leader at {address} within {seconds} s: {why}")));
            }
        }
    };
    let Member { index, processes } = muster.member;
    let parameters = muster.parameters.clone();
    let hello = Message::Hello { version: env!("CARGO_PKG_VERSION").into(), index, processes, parameters };
    let sent = write(&mut stream, &hello).await;
    sent.map_err(|error| lost(format!("the leader at {address} has gone: {error}")))?;
    Ok(Link::new(0, stream, events))
}

fn lost(message: String) -> Failure {
    Failure::new(Exit::Unreachable, "ProcessLost", message)
}

fn processes(indices: &[u32]) -> String {
    let list: Vec<String> = indices.iter().map(u32::to_string).collect();
    format!("process{} {}", if indices.len() == 1 { "" } else { "es" }, list.join(", "))
}

async fn read(reader: &mut OwnedReadHalf) -> Result<Message, String> {
    read_from(reader).await
}

async fn read_from(reader: &mut (impl AsyncReadExt + Unpin)) -> Result<Message, String> {
    let length = reader.read_u32().await.map_err(|error| error.to_string())? as usize;
    if length > LONGEST_MESSAGE {
        return Err("a message that is too long".into());
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).await.map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| format!("a message that is none: {error}"))
}

async fn write(writer: &mut (impl AsyncWriteExt + Unpin), message: &Message) -> Result<(), String> {
    let text = serde_json::to_vec(message).map_err(|error| error.to_string())?;
    let mut frame = (text.len() as u32).to_be_bytes().to_vec();
    frame.extend(text);
    writer.write_all(&frame).await.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn muster() -> Muster {
        Muster {
            role: Role::Lead("127.0.0.1:0".into()),
            member: Member { index: 0, processes: 3 },
            patience: Duration::from_secs(1),
            parameters: "same".into(),
        }
    }

    fn hello(index: u32, processes: u32, parameters: &str) -> Message {
        let version = env!("CARGO_PKG_VERSION").into();
        Message::Hello { version, index, processes, parameters: parameters.into() }
    }

    #[test]
    fn a_process_joins_only_with_a_free_index_and_the_same_parameters() {
        assert_eq!(fits(&muster(), &[2], &hello(1, 3, "same")), Ok(1));
        let refused = |hello: &Message| fits(&muster(), &[2], hello).unwrap_err();
        assert!(refused(&hello(2, 3, "same")).contains("two processes have --process-index 2"));
        assert!(refused(&hello(0, 3, "same")).contains("--process-index 0"));
        assert!(refused(&hello(1, 4, "same")).contains("--processes 4, not 3"));
        assert!(refused(&hello(1, 3, "other")).contains("measures something else"));
        assert!(refused(&Message::Ready).contains("introduce"));
    }
}
