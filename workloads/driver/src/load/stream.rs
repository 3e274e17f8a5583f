//! Chunks over several connections at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::dataset::{Dataset, Table};
use super::digest::{ChunkDigest, ChunkHash};
use super::journal::{self, Chunk, Entry, Journal};
use super::queue::Queue;
use crate::engine::{CopyIn, Engine, EngineError, ErrorKind, Isolation, Session};
use crate::failure::Failure;
use crate::report::Progress;

/// Size of one message to the database, in bytes: enough to make system calls rare, small enough to
/// keep the server fed while the next one is generated.
const MESSAGE: usize = 64 * 1024;

/// After so many bytes, and the rest of a chunk, a bulk load ends and is committed: an interruption costs no more
/// than this on each connection. Short ones are slower: a server has memory and pages to find for each of them.
const COPY: u64 = 32 * 1024 * 1024;

/// What was sent, by table.
#[derive(Default)]
pub struct Sent {
    pub rows: BTreeMap<&'static str, u64>,
    pub digests: BTreeMap<&'static str, Vec<ChunkDigest>>,
    pub bytes: u64,
}

/// A chunk that is in the database.
struct ChunkDone {
    table: &'static str,
    number: u32,
    chunk: Chunk,
}

impl Sent {
    fn add(&mut self, table: &'static str, number: u32, chunk: &Chunk) {
        *self.rows.entry(table).or_default() += chunk.rows;
        if let Some(slot) = self.digests.get_mut(table).and_then(|d| d.get_mut(number as usize)) {
            *slot = chunk.digest;
        }
        self.bytes += chunk.bytes;
    }
}

/// Streams all chunks that are not in the journal; connections take the next one as they become free.
pub async fn stream<E: Engine, D: Dataset>(
    engine: &E,
    dataset: &D,
    connections: usize,
    journal: &Journal,
    progress: &Progress,
) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let mut work: Vec<(&'static Table, Vec<u32>)> = Vec::new();
    for table in dataset.tables() {
        sent.rows.insert(table.name, 0);
        sent.digests.insert(table.name, vec![[0; 16]; dataset.chunks(table) as usize]);
        let mut missing = Vec::new();
        for number in 0..dataset.chunks(table) {
            match journal.chunk(table.name, number) {
                Some(chunk) => sent.add(table.name, number, chunk),
                None => missing.push(number),
            }
        }
        work.push((table, missing));
    }
    let total: usize = work.iter().map(|(_, chunks)| chunks.len()).sum();
    progress.begin("load", total as u64, "chunks");
    let queue = Arc::new(Queue::new(work));
    let stop = Arc::new(AtomicBool::new(false));
    let (done, mut finished) = mpsc::unbounded_channel();
    for number in 0..connections.min(total) {
        let (engine, dataset, queue, stop, done) =
            (engine.clone(), dataset.clone(), queue.clone(), stop.clone(), done.clone());
        std::thread::Builder::new()
            .name(format!("load-{number}"))
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.expect("a runtime needs only epoll");
                if let Err(error) = runtime.block_on(feed(&engine, &dataset, &queue, &stop, &done)) {
                    // No receiver means that another connection has failed before.
                    let _ = done.send(Err(error));
                }
            })
            .map_err(|error| Failure::invalid(format!("cannot start a thread: {error}")))?;
    }
    drop(done);
    let mut complete = 0;
    while let Some(result) = finished.recv().await {
        let done: ChunkDone = result.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        sent.add(done.table, done.number, &done.chunk);
        complete += 1;
        progress.set(complete);
    }
    if complete as usize != total {
        return Err(Failure::invalid("a loading thread ended early"));
    }
    Ok(sent)
}

async fn feed<E: Engine, D: Dataset>(
    engine: &E,
    dataset: &D,
    queue: &Queue,
    stop: &AtomicBool,
    done: &mpsc::UnboundedSender<Result<ChunkDone, EngineError>>,
) -> Result<(), EngineError> {
    let session = engine.connect().await?;
    session.limit_statements(None).await?;
    let (entry, most) = match journal::kept(engine.dialect()) {
        true => (Some(Entry::prepare(&session).await?), COPY),
        // Hyper holds on to a table while it gives up a bulk load that was broken off: short ones are soon over.
        false => (None, 0),
    };
    while let Some((table, first)) = queue.join() {
        if entry.is_some() {
            session.begin(Isolation::ReadCommitted).await?;
        }
        let mut copy = session.copy_in(table.name, dataset.format()).await?;
        let (mut chunks, mut rows, mut bytes) = (Vec::new(), 0, 0);
        let mut next = Some(first);
        while let Some(number) = next {
            let Some(chunk) = send(dataset, table, number, &mut copy, stop).await? else { return Ok(()) };
            rows += chunk.rows;
            bytes += chunk.bytes;
            chunks.push(ChunkDone { table: table.name, number, chunk });
            next = if bytes < most { queue.next(table) } else { None };
        }
        queue.leave(table);
        let taken = copy.finish().await?;
        if taken != rows {
            return Err(EngineError::new(
                ErrorKind::Other,
                "rows",
                format!("{}: {rows} rows were sent and {taken} taken", table.name),
            ));
        }
        if let Some(entry) = &entry {
            for done in &chunks {
                entry.write(&session, table.name, done.number, &done.chunk).await?;
            }
            session.commit().await?;
        }
        for chunk in chunks {
            let _ = done.send(Ok(chunk));
        }
    }
    session.close().await;
    Ok(())
}

/// Generates, hashes and sends one chunk; none when another connection has failed.
async fn send<D: Dataset>(
    dataset: &D,
    table: &Table,
    number: u32,
    copy: &mut impl CopyIn,
    stop: &AtomicBool,
) -> Result<Option<Chunk>, EngineError> {
    let mut rows = dataset.open(table, number);
    let mut hash = ChunkHash::default();
    let mut chunk = Chunk { rows: 0, bytes: 0, digest: Default::default() };
    loop {
        let mut message = Vec::with_capacity(MESSAGE + 1024);
        let added = rows.fill(&mut message, MESSAGE);
        if added == 0 {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        chunk.rows += added;
        chunk.bytes += message.len() as u64;
        hash.update(rows.digested(&message));
        copy.send(Bytes::from(message)).await?;
    }
    chunk.digest = hash.finish();
    Ok(Some(chunk))
}
