//! The seven transactions.

use super::inputs::{self, Population, OPERATIONS};
use crate::engine::{Engine, EngineError, Isolation, Row, Session, Value};
use crate::measure::clients::{Client, Workload};
use crate::measure::Transaction;
use crate::workload::attempt::{attempt, single, Ending};
use crate::workload::random::Random;

/// TATP on one engine.
#[derive(Clone)]
pub struct Tatp<E> {
    pub engine: E,
    pub seed: u64,
    pub population: Population,
}

impl<E: Engine> Workload for Tatp<E> {
    type Client = TatpClient<E::Session>;

    fn operations(&self) -> &'static [&'static str] {
        &OPERATIONS
    }

    async fn client(&self, index: usize) -> Result<Self::Client, EngineError> {
        let session = self.engine.connect().await?;
        let statements = Statements::prepare(&session).await?;
        let random = Random::stream(self.seed, "tatp client", index as u64);
        Ok(TatpClient { session, statements, random, population: self.population })
    }
}

const SUBSCRIBER_DATA: &str = "SELECT s_id, sub_nbr, \
    bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10, \
    hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10, \
    byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, byte2_6, byte2_7, byte2_8, byte2_9, byte2_10, \
    msc_location, vlr_location FROM subscriber WHERE s_id = $1";
const NEW_DESTINATION: &str = "SELECT cf.numberx FROM special_facility sf, call_forwarding cf \
    WHERE sf.s_id = $1 AND sf.sf_type = $2 AND sf.is_active = 1 \
    AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type AND cf.start_time <= $3 AND $4 < cf.end_time";
const ACCESS_DATA: &str =
    "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = $1 AND ai_type = $2";
const UPDATE_BIT: &str = "UPDATE subscriber SET bit_1 = $1 WHERE s_id = $2";
const UPDATE_FACILITY: &str = "UPDATE special_facility SET data_a = $1 WHERE s_id = $2 AND sf_type = $3";
const UPDATE_LOCATION: &str = "UPDATE subscriber SET vlr_location = $1 WHERE sub_nbr = $2";
const FIND_SUBSCRIBER: &str = "SELECT s_id FROM subscriber WHERE sub_nbr = $1";
const FIND_FACILITIES: &str = "SELECT sf_type FROM special_facility WHERE s_id = $1";
const INSERT_FORWARDING: &str =
    "INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx) VALUES ($1, $2, $3, $4, $5)";
const DELETE_FORWARDING: &str =
    "DELETE FROM call_forwarding WHERE s_id = $1 AND sf_type = $2 AND start_time = $3";

struct Statements<S: Session> {
    subscriber_data: S::Statement,
    new_destination: S::Statement,
    access_data: S::Statement,
    update_bit: S::Statement,
    update_facility: S::Statement,
    update_location: S::Statement,
    find_subscriber: S::Statement,
    find_facilities: S::Statement,
    insert_forwarding: S::Statement,
    delete_forwarding: S::Statement,
}

impl<S: Session> Statements<S> {
    async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(Statements {
            subscriber_data: session.prepare(SUBSCRIBER_DATA).await?,
            new_destination: session.prepare(NEW_DESTINATION).await?,
            access_data: session.prepare(ACCESS_DATA).await?,
            update_bit: session.prepare(UPDATE_BIT).await?,
            update_facility: session.prepare(UPDATE_FACILITY).await?,
            update_location: session.prepare(UPDATE_LOCATION).await?,
            find_subscriber: session.prepare(FIND_SUBSCRIBER).await?,
            find_facilities: session.prepare(FIND_FACILITIES).await?,
            insert_forwarding: session.prepare(INSERT_FORWARDING).await?,
            delete_forwarding: session.prepare(DELETE_FORWARDING).await?,
        })
    }
}

/// One client with its connection.
pub struct TatpClient<S: Session> {
    session: S,
    statements: Statements<S>,
    random: Random,
    population: Population,
}

impl<S: Session> Client for TatpClient<S> {
    async fn transact(&mut self) -> Result<Transaction, EngineError> {
        let operation = inputs::operation(&mut self.random);
        match operation {
            0 => single(operation, self.get_subscriber_data().await),
            1 => single(operation, self.get_new_destination().await),
            2 => single(operation, self.get_access_data().await),
            3 => self.update_subscriber_data(operation).await,
            4 => single(operation, self.update_location().await),
            5 => self.insert_call_forwarding(operation).await,
            _ => self.delete_call_forwarding(operation).await,
        }
    }

    async fn close(self) {
        self.session.close().await;
    }
}

impl<S: Session> TatpClient<S> {
    async fn get_subscriber_data(&mut self) -> Result<bool, EngineError> {
        let id = self.population.subscriber(&mut self.random);
        let rows = self.session.query(&self.statements.subscriber_data, &[id.into()]).await?;
        Ok(!rows.is_empty())
    }

    async fn get_new_destination(&mut self) -> Result<bool, EngineError> {
        let random = &mut self.random;
        let id = self.population.subscriber(random);
        let values = [
            id.into(),
            inputs::kind(random).into(),
            inputs::start_time(random).into(),
            inputs::end_time(random).into(),
        ];
        Ok(!self.session.query(&self.statements.new_destination, &values).await?.is_empty())
    }

    async fn get_access_data(&mut self) -> Result<bool, EngineError> {
        let id = self.population.subscriber(&mut self.random);
        let values = [id.into(), inputs::kind(&mut self.random).into()];
        Ok(!self.session.query(&self.statements.access_data, &values).await?.is_empty())
    }

    async fn update_location(&mut self) -> Result<bool, EngineError> {
        let number = self.population.number(&mut self.random);
        let location = self.random.uniform(1, (1 << 32) - 1);
        let values = [Value::Long(location), Value::Text(&number)];
        Ok(self.session.execute(&self.statements.update_location, &values).await? > 0)
    }

    async fn update_subscriber_data(&mut self, operation: usize) -> Result<Transaction, EngineError> {
        let random = &mut self.random;
        let id = self.population.subscriber(random);
        let (kind, bit, data) = (inputs::kind(random), random.int(0, 1), random.int(0, 255));
        let statements = &self.statements;
        attempt(&self.session, operation, Isolation::ReadCommitted, false, async |session| {
            session.execute(&statements.update_bit, &[bit.into(), id.into()]).await?;
            let values = [data.into(), id.into(), kind.into()];
            let changed = session.execute(&statements.update_facility, &values).await?;
            Ok(if changed > 0 { Ending::Commit } else { Ending::Rollback })
        })
        .await
    }

    async fn insert_call_forwarding(&mut self, operation: usize) -> Result<Transaction, EngineError> {
        let random = &mut self.random;
        let number = self.population.number(random);
        let (kind, start) = (inputs::kind(random), inputs::start_time(random));
        let end = inputs::end_time(random);
        let mut target = Vec::with_capacity(15);
        random.digits(15, &mut target);
        let target = String::from_utf8_lossy(&target).into_owned();
        let statements = &self.statements;
        attempt(&self.session, operation, Isolation::ReadCommitted, true, async |session| {
            let found = session.query(&statements.find_subscriber, &[Value::Text(&number)]).await?;
            let Some(row) = found.first() else { return Ok(Ending::Rollback) };
            let id = row.int(0)?;
            // The specification reads the facilities and leaves it to the keys to refuse a row.
            session.query(&statements.find_facilities, &[id.into()]).await?;
            let values = [id.into(), kind.into(), start.into(), end.into(), Value::Text(&target)];
            session.execute(&statements.insert_forwarding, &values).await?;
            Ok(Ending::Commit)
        })
        .await
    }

    async fn delete_call_forwarding(&mut self, operation: usize) -> Result<Transaction, EngineError> {
        let random = &mut self.random;
        let number = self.population.number(random);
        let (kind, start) = (inputs::kind(random), inputs::start_time(random));
        let statements = &self.statements;
        attempt(&self.session, operation, Isolation::ReadCommitted, false, async |session| {
            let found = session.query(&statements.find_subscriber, &[Value::Text(&number)]).await?;
            let Some(row) = found.first() else { return Ok(Ending::Rollback) };
            let values = [row.int(0)?.into(), kind.into(), start.into()];
            let deleted = session.execute(&statements.delete_forwarding, &values).await?;
            Ok(if deleted > 0 { Ending::Commit } else { Ending::Rollback })
        })
        .await
    }
}
