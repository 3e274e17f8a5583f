//! Messages out, messages in: one connection that does one thing at a time.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::FutureExt;
use postgres_protocol::message::frontend;
use postgres_types::{Format, IsNull, ToSql, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::error::{lost, of_driver, of_io, of_response, unexpected};
use super::statement::{column_list, parameter_list, Row, Statement};
use super::stream::Stream;
use crate::engine::{Encryption, EngineError, Value};

/// Size of the buffer for answers, in bytes; it grows for a longer message.
const INPUT: usize = 16 * 1024;
/// With less room than this, a read would be too small to be worth a system call.
const MIN_READ: usize = 1024;
/// Tag and length of a message, in bytes.
pub(super) const HEADER: usize = 5;

/// State of the session after an answer: outside of a transaction.
const IDLE: u8 = b'I';

pub(super) mod tag {
    pub const READY: u8 = b'Z';
    pub const ERROR: u8 = b'E';
    pub const DATA_ROW: u8 = b'D';
    pub const COMPLETE: u8 = b'C';
    pub const COPY_IN: u8 = b'G';
    pub const COPY_DATA: u8 = b'd';
    pub const PARAMETERS: u8 = b't';
    pub const COLUMNS: u8 = b'T';
}

/// An open connection, past authentication.
pub struct Connection {
    pub(super) stream: Stream,
    pub(super) input: BytesMut,
    pub(super) output: BytesMut,
    /// Answers still to come. More than none before a statement means that one was given up halfway.
    owed: u32,
    copying: bool,
    /// A message was sent in part only, and cannot be completed any more.
    torn: bool,
    /// Whether the server said last that a transaction is open.
    in_transaction: bool,
    prepared: u32,
}

/// A message that has arrived whole.
pub(super) struct Message<'a> {
    pub tag: u8,
    input: &'a mut BytesMut,
    length: usize,
}

impl Message<'_> {
    pub fn body(&self) -> &[u8] {
        &self.input[HEADER..self.length]
    }

    /// The body as a part of the input buffer, without a copy.
    fn keep(self) -> Bytes {
        let mut message = self.input.split_to(self.length).freeze();
        message.advance(HEADER);
        message
    }

    /// The number at the end of a command's tag: the rows that it touched.
    fn rows(&self) -> u64 {
        let text = self.body().strip_suffix(b"\0").unwrap_or(self.body());
        let last = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        std::str::from_utf8(last).ok().and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Connection {
            stream,
            input: BytesMut::with_capacity(INPUT),
            output: BytesMut::with_capacity(MIN_READ),
            owed: 0,
            copying: false,
            torn: false,
            in_transaction: false,
            prepared: 0,
        }
    }

    /// Whether a transaction was open, be it a failed one, when the last answer ended.
    pub fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// Runs statements given as text, and hands out the rows of their answers as text.
    pub async fn simple(&mut self, sql: &str, mut row: impl FnMut(&[u8])) -> Result<(), EngineError> {
        self.ask(sql).await?;
        self.answer(|message| {
            if message.tag == tag::DATA_ROW {
                row(message.body());
            }
        })
        .await
    }

    /// Prepares a statement. Types that are not given are for the server to find.
    pub async fn prepare(&mut self, sql: &str, types: &[Type]) -> Result<Statement, EngineError> {
        self.settle().await?;
        self.prepared += 1;
        let name = format!("s{}", self.prepared);
        frontend::parse(&name, sql, types.iter().map(Type::oid), &mut self.output).map_err(of_driver)?;
        frontend::describe(b'S', &name, &mut self.output).map_err(of_driver)?;
        self.round_trip().await?;
        let (mut parameters, mut columns) = (Some(Vec::new()), Some(Vec::new()));
        self.answer(|message| match message.tag {
            tag::PARAMETERS => parameters = parameter_list(message.body()),
            tag::COLUMNS => columns = column_list(message.body()),
            _ => {}
        })
        .await?;
        match (parameters, columns) {
            (Some(parameters), Some(columns)) => Ok(Statement::new(name, parameters, columns)),
            _ => Err(unexpected("the description of a statement")),
        }
    }

    pub async fn query(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, EngineError> {
        self.settle().await?;
        self.bind(statement, values)?;
        self.round_trip().await?;
        let mut rows = Vec::new();
        self.answer(|message| {
            if message.tag == tag::DATA_ROW {
                rows.push(Row::new(message.keep(), statement));
            }
        })
        .await?;
        Ok(rows)
    }

    pub async fn execute(&mut self, statement: &Statement, values: &[Value<'_>]) -> Result<u64, EngineError> {
        self.settle().await?;
        self.bind(statement, values)?;
        self.round_trip().await?;
        self.count_rows().await
    }

    /// Reads an answer; returns how many rows the last command touched.
    async fn count_rows(&mut self) -> Result<u64, EngineError> {
        let mut rows = 0;
        self.answer(|message| {
            if message.tag == tag::COMPLETE {
                rows = message.rows();
            }
        })
        .await?;
        Ok(rows)
    }

    /// Starts a bulk load.
    pub async fn start_copy(&mut self, sql: &str) -> Result<(), EngineError> {
        self.ask(sql).await?;
        loop {
            let (tag, length) = self.message().await?;
            match tag {
                tag::COPY_IN => {
                    self.input.advance(length);
                    self.copying = true;
                    return Ok(());
                }
                tag::ERROR | tag::READY => {
                    self.answer(|_| {}).await?;
                    return Err(unexpected("no bulk load after COPY"));
                }
                _ => self.input.advance(length),
            }
        }
    }

    pub async fn send_copy(&mut self, data: &[u8]) -> Result<(), EngineError> {
        // The server speaks up only when it cannot go on.
        if !self.input.is_empty() || self.read(1).now_or_never().transpose()?.is_some() {
            let (tag, length) = self.message().await?;
            if tag == tag::ERROR {
                self.copying = false;
                return Err(self
                    .answer(|_| {})
                    .await
                    .err()
                    .unwrap_or_else(|| unexpected("a bulk load's error")));
            }
            self.input.advance(length);
        }
        let mut header = [tag::COPY_DATA; HEADER];
        (&mut header[1..]).put_u32(data.len() as u32 + 4);
        self.torn = true;
        self.stream.write_all_buf(&mut Buf::chain(&header[..], data)).await.map_err(of_io)?;
        self.torn = false;
        self.stream.flush().await.map_err(of_io)
    }

    /// Ends a bulk load; returns the number of rows that the server took.
    pub async fn end_copy(&mut self) -> Result<u64, EngineError> {
        self.copying = false;
        frontend::copy_done(&mut self.output);
        self.send().await?;
        self.count_rows().await
    }

    /// What the data are encrypted with, if at all.
    pub fn encryption(&self) -> Option<Encryption> {
        self.stream.encryption()
    }

    /// Says goodbye.
    pub async fn close(&mut self) -> Result<(), EngineError> {
        frontend::terminate(&mut self.output);
        self.send().await?;
        self.stream.shutdown().await.map_err(of_io)
    }

    async fn ask(&mut self, sql: &str) -> Result<(), EngineError> {
        self.settle().await?;
        frontend::query(sql, &mut self.output).map_err(of_driver)?;
        self.owed += 1;
        self.send().await
    }

    fn bind(&mut self, statement: &Statement, values: &[Value<'_>]) -> Result<(), EngineError> {
        let types = statement.parameters();
        if types.len() != values.len() {
            let message = format!("the statement has {} parameters, not {}", types.len(), values.len());
            return Err(of_driver(message));
        }
        let start = self.output.len();
        let pairs = || values.iter().zip(types);
        let bound = frontend::bind(
            "",
            statement.name(),
            pairs().map(|(value, ty)| matches!(value.encode_format(ty), Format::Binary).into()),
            pairs(),
            |(value, ty): (&Value<'_>, &Type), out| {
                Ok(match value.to_sql(ty, out)? {
                    IsNull::Yes => postgres_protocol::IsNull::Yes,
                    IsNull::No => postgres_protocol::IsNull::No,
                })
            },
            statement.formats().iter().copied(),
            &mut self.output,
        );
        if let Err(error) = bound {
            self.output.truncate(start);
            return Err(match error {
                frontend::BindError::Conversion(error) => of_driver(format!("a parameter: {error}")),
                frontend::BindError::Serialization(error) => of_driver(error),
            });
        }
        frontend::execute("", 0, &mut self.output).map_err(of_driver)
    }

    /// Sends what has been written, and a request to answer it.
    async fn round_trip(&mut self) -> Result<(), EngineError> {
        frontend::sync(&mut self.output);
        self.owed += 1;
        self.send().await
    }

    /// Reads an answer to its end. An error in it is returned once the server is ready again.
    async fn answer(&mut self, mut each: impl FnMut(Message<'_>)) -> Result<(), EngineError> {
        let mut trouble: Option<EngineError> = None;
        loop {
            let (tag, length) = match self.message().await {
                Ok(message) => message,
                // The server says why before it closes the connection.
                Err(end) => {
                    return Err(trouble.map_or(end.clone(), |error| EngineError { kind: end.kind, ..error }))
                }
            };
            match tag {
                tag::READY => {
                    self.in_transaction = self.input[HEADER..length].first().is_some_and(|at| *at != IDLE);
                    self.input.advance(length);
                    self.owed -= 1;
                    return trouble.map_or(Ok(()), Err);
                }
                tag::ERROR => {
                    trouble.get_or_insert_with(|| of_response(&self.input[HEADER..length]));
                    self.input.advance(length);
                }
                tag::COPY_IN => {
                    // Nobody here has data for it.
                    self.input.advance(length);
                    frontend::copy_fail("no data", &mut self.output).map_err(of_driver)?;
                    self.send().await?;
                }
                _ => {
                    let rest = self.input.len() - length;
                    each(Message { tag, input: &mut self.input, length });
                    self.input.advance(self.input.len() - rest);
                }
            }
        }
    }

    /// Brings a connection whose last user went away halfway back to where it can be used.
    async fn settle(&mut self) -> Result<(), EngineError> {
        if self.torn {
            return Err(lost("a bulk load was given up in the middle of a message"));
        }
        if self.copying {
            self.copying = false;
            frontend::copy_fail("given up", &mut self.output).map_err(of_driver)?;
        }
        while self.owed > 0 {
            self.send().await?;
            let before = self.owed;
            let left = self.answer(|_| {}).await;
            if self.owed == before {
                return left;
            }
        }
        Ok(())
    }

    /// Writes all that is waiting. What is left when the future is dropped goes out with the next call.
    pub(super) async fn send(&mut self) -> Result<(), EngineError> {
        while !self.output.is_empty() {
            // Not `write_buf`, which would gather one buffer: a plain write costs the kernel less.
            match self.stream.write(&self.output).await.map_err(of_io)? {
                0 => return Err(lost("the socket takes no more data")),
                written => self.output.advance(written),
            }
        }
        self.stream.flush().await.map_err(of_io)
    }

    /// Waits until the next message is there whole; returns its tag and its length with the header.
    pub(super) async fn message(&mut self) -> Result<(u8, usize), EngineError> {
        loop {
            let mut need = 1;
            if self.input.len() >= HEADER {
                let length = i32::from_be_bytes([self.input[1], self.input[2], self.input[3], self.input[4]]);
                let length = usize::try_from(length).ok().filter(|length| *length >= 4);
                let length = length.ok_or_else(|| unexpected("a message of no length"))? + 1;
                if self.input.len() >= length {
                    return Ok((self.input[0], length));
                }
                need = length - self.input.len();
            }
            self.read(need).await?;
        }
    }

    pub(super) async fn read(&mut self, need: usize) -> Result<(), EngineError> {
        if self.input.capacity() - self.input.len() < need.max(MIN_READ) {
            self.input.reserve(need.max(INPUT.saturating_sub(self.input.len())));
        }
        match self.stream.read_buf(&mut self.input).await {
            Ok(0) => Err(lost("the server closed it")),
            Ok(_) => Ok(()),
            Err(error) => Err(of_io(error)),
        }
    }
}
