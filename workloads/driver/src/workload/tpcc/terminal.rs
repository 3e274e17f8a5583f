//! A terminal: one client, bound to a warehouse.

use super::constants::Constants;
use super::deck::{self, Deck, OPERATIONS};
use super::inputs::{self, Home};
use super::transaction::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use crate::engine::{Engine, EngineError, Isolation, Session};
use crate::measure::clients::{Client, Workload};
use crate::measure::Transaction;
use crate::workload::attempt::attempt;
use crate::workload::random::Random;

/// TPC-C on one engine.
#[derive(Clone)]
pub struct Tpcc<E> {
    pub engine: E,
    pub seed: u64,
    pub warehouses: i32,
    pub constants: Constants,
}

impl<E: Engine> Workload for Tpcc<E> {
    type Client = Terminal<E::Session>;

    fn operations(&self) -> &'static [&'static str] {
        &OPERATIONS
    }

    async fn client(&self, index: usize) -> Result<Self::Client, EngineError> {
        let session = self.engine.connect().await?;
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
}

impl<S: Session> Client for Terminal<S> {
    /// Transactions that write run at READ COMMITTED and lock the rows that they read in order to change
    /// them; those that only read see one snapshot. Rows that are read without a lock (tax, discount, price,
    /// name) never change, so the outcome is that of some serial order (clause 3.4).
    async fn transact(&mut self) -> Result<Transaction, EngineError> {
        let operation = self.deck.draw(&mut self.random);
        let (random, home, constants) = (&mut self.random, &self.home, &self.constants);
        let (writing, reading) = (Isolation::ReadCommitted, Isolation::SnapshotReadOnly);
        match operation {
            deck::NEW_ORDER => {
                let input = inputs::NewOrder::draw(random, home, constants);
                let body = async |session: &S| self.new_order.run(session, &input).await;
                attempt(&self.session, operation, writing, false, body).await
            }
            deck::PAYMENT => {
                let input = inputs::Payment::draw(random, home, constants);
                let body = async |session: &S| self.payment.run(session, &input).await;
                attempt(&self.session, operation, writing, false, body).await
            }
            deck::ORDER_STATUS => {
                let input = inputs::OrderStatus::draw(random, home, constants);
                let body = async |session: &S| self.order_status.run(session, &input).await;
                attempt(&self.session, operation, reading, false, body).await
            }
            deck::DELIVERY => {
                let input = inputs::Delivery::draw(random, home);
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

    async fn close(self) {
        self.session.close().await;
    }
}
