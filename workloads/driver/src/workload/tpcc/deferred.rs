//! Deliveries in the background (clause 2.7.2): a terminal queues them and goes on; a worker with a connection
//! of its own carries them out in the order of the queue. Ten terminals share a worker, as they share a
//! warehouse in the specification.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

use super::inputs;
use super::transaction::Delivery;
use crate::engine::{Engine, EngineError, Session};
use crate::measure::Transaction;

/// Terminals that share a worker.
const TERMINALS: usize = 10;

/// When deliveries are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// At once, while the terminal waits
    Inline,
    /// In the background, from a queue, as the specification has it
    Deferred,
}

type Reply = Result<Transaction, EngineError>;

enum Order {
    Deliver { input: inputs::Delivery, queued: Instant, reply: UnboundedSender<Reply> },
    End,
}

/// The queues of all workers, by the number of their group of terminals.
#[derive(Clone, Default)]
pub struct Queues(Arc<Mutex<HashMap<usize, UnboundedSender<Order>>>>);

/// A terminal's end of its group's queue.
pub struct Deferred {
    queue: UnboundedSender<Order>,
    reply: UnboundedSender<Reply>,
    replies: UnboundedReceiver<Reply>,
    outstanding: usize,
    /// The worker, at the terminal that came first in its group.
    worker: Option<JoinHandle<()>>,
}

impl Deferred {
    /// Joins the group of terminal number `index`; the first one of a group starts its worker.
    pub async fn join<E: Engine>(engine: &E, queues: &Queues, index: usize) -> Result<Self, EngineError> {
        let (queue, orders) = {
            let mut queues = queues.0.lock().expect("no holder of this lock panics");
            match queues.get(&(index / TERMINALS)) {
                Some(queue) => (queue.clone(), None),
                None => {
                    let (queue, orders) = unbounded_channel();
                    queues.insert(index / TERMINALS, queue.clone());
                    (queue, Some(orders))
                }
            }
        };
        let worker = match orders {
            None => None,
            Some(orders) => {
                let session = engine.connect().await?;
                let delivery = Delivery::prepare(&session).await?;
                Some(tokio::task::spawn_local(work(session, delivery, orders)))
            }
        };
        let (reply, replies) = unbounded_channel();
        Ok(Deferred { queue, reply, replies, outstanding: 0, worker })
    }

    pub fn order(&mut self, input: inputs::Delivery) {
        let order = Order::Deliver { input, queued: Instant::now(), reply: self.reply.clone() };
        // The worker's end is open until the last terminal of the run closes.
        self.outstanding += usize::from(self.queue.send(order).is_ok());
    }

    /// A delivery that has been carried out since, if any.
    pub fn ended(&mut self) -> Result<Option<Transaction>, EngineError> {
        let Ok(reply) = self.replies.try_recv() else { return Ok(None) };
        self.outstanding -= 1;
        reply.map(Some)
    }

    /// Waits for the next delivery to be carried out; none when all are.
    pub async fn settle(&mut self) -> Result<Option<Transaction>, EngineError> {
        if self.outstanding == 0 {
            return Ok(None);
        }
        let Some(reply) = self.replies.recv().await else { return Ok(None) };
        self.outstanding -= 1;
        reply.map(Some)
    }

    pub async fn close(self) {
        if let Some(worker) = self.worker {
            let _ = self.queue.send(Order::End);
            let _ = worker.await;
        }
    }
}

/// Carries out orders until the end. A lost connection is told to everybody who waits or will wait.
async fn work<S: Session>(session: S, delivery: Delivery<S>, mut orders: UnboundedReceiver<Order>) {
    let mut lost: Option<EngineError> = None;
    while let Some(Order::Deliver { input, queued, reply }) = orders.recv().await {
        let outcome = match &lost {
            Some(error) => Err(error.clone()),
            None => delivery.transact(&session, &input).await,
        };
        lost = outcome.as_ref().err().cloned();
        let booked =
            outcome.map(|transaction| Transaction { span: Some((queued, Instant::now())), ..transaction });
        // A terminal that has failed does not listen any more.
        let _ = reply.send(booked);
    }
    session.close().await;
}
