//! Chunks over several connections at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::dataset::{Dataset, Table};
use super::digest::ChunkDigest;
use super::journal::{self, Chunk, Entry, Journal};
use crate::engine::{CopyIn, Engine, EngineError, ErrorKind, Isolation, Session};
use crate::failure::Failure;
use crate::report::Progress;

/// Size of one message to the database, in bytes: enough to make system calls rare, small enough to
/// keep the server fed while the next one is generated.
const MESSAGE: usize = 64 * 1024;

/// What was sent, by table.
#[derive(Default)]
pub struct Sent {
    pub rows: BTreeMap<&'static str, u64>,
    pub digests: BTreeMap<&'static str, Vec<ChunkDigest>>,
    pub bytes: u64,
}

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

type Queue = Arc<Mutex<std::vec::IntoIter<(&'static Table, u32)>>>;

/// Streams all chunks that are not in the journal; connections take the next one as they become free.
pub async fn stream<E: Engine, D: Dataset>(
    engine: &E,
    dataset: &D,
    connections: usize,
    journal: &Journal,
    progress: &Progress,
) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let mut work = Vec::new();
    for table in dataset.tables() {
        sent.rows.insert(table.name, 0);
        sent.digests.insert(table.name, vec![[0; 32]; dataset.chunks(table) as usize]);
        for number in 0..dataset.chunks(table) {
            match journal.chunk(table.name, number) {
                Some(chunk) => sent.add(table.name, number, chunk),
                None => work.push((table, number)),
            }
        }
    }
    let total = work.len();
    progress.begin("load", total as u64, "chunks");
    let queue: Queue = Arc::new(Mutex::new(work.into_iter()));
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
    let entry = match journal::kept(engine.dialect()) {
        true => Some(Entry::prepare(&session).await?),
        false => None,
    };
    loop {
        let next = queue.lock().expect("no holder of this lock panics").next();
        let Some((table, number)) = next else { break };
        let mut rows = dataset.open(table, number);
        if entry.is_some() {
            session.begin(Isolation::ReadCommitted).await?;
        }
        let mut copy = session.copy_in(table.name).await?;
        let mut hash = Sha256::new();
        let (mut count, mut bytes) = (0, 0);
        loop {
            let mut message = Vec::with_capacity(MESSAGE + 1024);
            let added = rows.fill(&mut message, MESSAGE);
            if added == 0 {
                break;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            count += added;
            bytes += message.len() as u64;
            hash.update(&message);
            copy.send(Bytes::from(message)).await?;
        }
        let taken = copy.finish().await?;
        if taken != count {
            return Err(EngineError::new(
                ErrorKind::Other,
                "rows",
                format!("{}: {count} rows were sent and {taken} taken", table.name),
            ));
        }
        let chunk = Chunk { rows: count, bytes, digest: hash.finalize().into() };
        if let Some(entry) = &entry {
            entry.write(&session, table.name, number, &chunk).await?;
            session.commit().await?;
        }
        let _ = done.send(Ok(ChunkDone { table: table.name, number, chunk }));
    }
    session.close().await;
    Ok(())
}
