//! A terminal: one client, bound to a warehouse.

use std::time::Duration;

use super::constants::Constants;
use super::deck::{self, Deck, OPERATIONS};
use super::deferred::{Deferred, Mode, Queues};
use super::inputs::{self, Home};
use super::transaction::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use super::{pacing, shares};
use crate::engine::{Engine, EngineError, Isolation, Session};
use crate::measure::clients::{Client, Workload};
use crate::measure::{Mark, Outcome, Transaction};
use crate::workload::attempt::attempt;
use crate::workload::random::Random;

/// TPC-C on one engine.
#[derive(Clone)]
pub struct Tpcc<E> {
    pub engine: E,
    pub seed: u64,
    pub warehouses: i32,
    pub constants: Constants,
    pub delivery: Mode,
    /// Keying and think times are multiplied by this; none means that there are none.
    pub pacing: Option<f64>,
    pub queues: Queues,
}

impl<E: Engine> Workload for Tpcc<E> {
    type Client = Terminal<E::Session>;

    fn operations(&self) -> &'static [&'static str] {
        &OPERATIONS
    }

    fn shares(&self) -> &'static [&'static str] {
        &shares::NAMES
    }

    async fn client(&self, index: usize) -> Result<Self::Client, EngineError> {
        let session = self.engine.connect().await?;
        let deferred = match self.delivery {
            Mode::Inline => None,
            Mode::Deferred => Some(Deferred::join(&self.engine, &self.queues, index).await?),
        };
        Ok(Terminal {
            new_order: NewOrder::prepare(&session).await?,
            payment: Payment::prepare(&session).await?,
            order_status: OrderStatus::prepare(&session).await?,
            delivery: Delivery::prepare(&session).await?,
            stock_level: StockLevel::prepare(&session).await?,
            session,
            random: Random::stream(self.seed, "tpcc terminal", index as u64),
            deck: Deck::default(),
            home: Home::of_terminal(index, self.warehouses),
            constants: self.constants,
            pacing: self.pacing,
            last: None,
            next: None,
            deferred,
        })
    }
}

pub struct Terminal<S: Session> {
    session: S,
    random: Random,
    deck: Deck,
    home: Home,
    constants: Constants,
    new_order: NewOrder<S>,
    payment: Payment<S>,
    order_status: OrderStatus<S>,
    delivery: Delivery<S>,
    stock_level: StockLevel<S>,
    pacing: Option<f64>,
    /// The operation before this one, which the terminal's user thinks about.
    last: Option<usize>,
    /// The operation that is being keyed in.
    next: Option<usize>,
    deferred: Option<Deferred>,
}

impl<S: Session> Client for Terminal<S> {
    fn pause(&mut self) -> Duration {
        let Some(factor) = self.pacing else { return Duration::ZERO };
        let next = *self.next.get_or_insert_with(|| self.deck.draw(&mut self.random));
        pacing::pause(factor, self.last, next, &mut self.random)
    }

    /// Transactions that write run at READ COMMITTED and lock the rows that they read in order to change
    /// them; those that only read see one snapshot. Rows that are read without a lock (tax, discount, price,
    /// name) never change, so the outcome is that of some serial order (clause 3.4).
    async fn transact(&mut self) -> Result<Transaction, EngineError> {
        let operation = self.next.take().unwrap_or_else(|| self.deck.draw(&mut self.random));
        self.last = Some(operation);
        let (random, home, constants) = (&mut self.random, &self.home, &self.constants);
        let (writing, reading) = (Isolation::ReadCommitted, Isolation::SnapshotReadOnly);
        match operation {
            deck::NEW_ORDER => {
                let input = inputs::NewOrder::draw(random, home, constants);
                let body = async |session: &S| self.new_order.run(session, &input).await;
                let transaction = attempt(&self.session, operation, writing, false, body).await?;
                let remote = input.lines.iter().filter(|line| line.supplier != input.warehouse).count();
                let mark = shares::remote_lines(remote, input.lines.len());
                Ok(Transaction { marks: [mark, Mark::default()], ..transaction })
            }
            deck::PAYMENT => {
                let input = inputs::Payment::draw(random, home, constants);
                let body = async |session: &S| self.payment.run(session, &input).await;
                let transaction = attempt(&self.session, operation, writing, false, body).await?;
                let remote = shares::remote_payment(input.customer_warehouse != input.warehouse);
                Ok(Transaction { marks: [remote, shares::by_name(&input.who)], ..transaction })
            }
            deck::ORDER_STATUS => {
                let input = inputs::OrderStatus::draw(random, home, constants);
                let body = async |session: &S| self.order_status.run(session, &input).await;
                let transaction = attempt(&self.session, operation, reading, false, body).await?;
                Ok(Transaction { marks: [shares::by_name(&input.who), Mark::default()], ..transaction })
            }
            deck::DELIVERY => {
                let input = inputs::Delivery::draw(random, home);
                if let Some(deferred) = &mut self.deferred {
                    deferred.order(input);
                    return Ok(Transaction::new(operation, Outcome::Deferred));
                }
                self.delivery.transact(&self.session, &input).await
            }
            _ => {
                let input = inputs::StockLevel::draw(random, home);
                let body = async |session: &S| self.stock_level.run(session, &input).await;
                attempt(&self.session, operation, reading, false, body).await
            }
        }
    }

    fn ended(&mut self) -> Result<Option<Transaction>, EngineError> {
        self.deferred.as_mut().map_or(Ok(None), Deferred::ended)
    }

    async fn settle(&mut self) -> Result<Option<Transaction>, EngineError> {
        match &mut self.deferred {
            Some(deferred) => deferred.settle().await,
            None => Ok(None),
        }
    }

    async fn close(self) {
        if let Some(deferred) = self.deferred {
            deferred.close().await;
        }
        self.session.close().await;
    }
}
