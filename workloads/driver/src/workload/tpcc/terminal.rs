//! A terminal: one client, bound to a warehouse.

use std::time::Duration;

use super::constants::Constants;
use super::deck::{self, Deck, OPERATIONS};
use super::deferred::{Deferred, Mode, Queues};
use super::inputs::{self, Home, Who};
use super::pacing;
use super::transaction::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
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

/// What the specification sets of the inputs: 1 % of the lines, 15 % of the payments, 60 % of the customers.
const SHARES: [&str; 3] = ["remoteOrderLines", "remotePayments", "customersByName"];
const REMOTE_LINES: u8 = 0;
const REMOTE_PAYMENTS: u8 = 1;
const BY_NAME: u8 = 2;

impl<E: Engine> Workload for Tpcc<E> {
    type Client = Terminal<E::Session>;

    fn operations(&self) -> &'static [&'static str] {
        &OPERATIONS
    }

    fn shares(&self) -> &'static [&'static str] {
        &SHARES
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
                let mark = Mark { share: REMOTE_LINES, count: remote as u16, of: input.lines.len() as u16 };
                Ok(Transaction { marks: [mark, Mark::default()], ..transaction })
            }
            deck::PAYMENT => {
                let input = inputs::Payment::draw(random, home, constants);
                let body = async |session: &S| self.payment.run(session, &input).await;
                let transaction = attempt(&self.session, operation, writing, false, body).await?;
                let remote = yes_or_no(REMOTE_PAYMENTS, input.customer_warehouse != input.warehouse);
                Ok(Transaction { marks: [remote, by_name(&input.who)], ..transaction })
            }
            deck::ORDER_STATUS => {
                let input = inputs::OrderStatus::draw(random, home, constants);
                let body = async |session: &S| self.order_status.run(session, &input).await;
                let transaction = attempt(&self.session, operation, reading, false, body).await?;
                Ok(Transaction { marks: [by_name(&input.who), Mark::default()], ..transaction })
            }
            deck::DELIVERY => {
                let input = inputs::Delivery::draw(random, home);
                if let Some(deferred) = &mut self.deferred {
                    deferred.order(input);
                    return Ok(Transaction::new(operation, Outcome::Deferred));
                }
                let body = async |session: &S| self.delivery.run(session, &input).await;
                attempt(&self.session, operation, writing, false, body).await
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

fn yes_or_no(share: u8, yes: bool) -> Mark {
    Mark { share, count: yes.into(), of: 1 }
}

fn by_name(who: &Who) -> Mark {
    yes_or_no(BY_NAME, matches!(who, Who::LastName(_)))
}
