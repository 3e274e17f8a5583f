//! A query stream: the 22 queries in the stream's order with the stream's parameters, one after the other
//! on one session.

use std::time::{Duration, Instant};

use super::super::execution::{execute, Outcome};
use super::super::{ordering, parameters, queries, ScaleFactor};
use crate::engine::Session;
use crate::failure::Failure;
use crate::report::Progress;

/// The texts of a stream in its order.
pub struct Texts(Vec<(u8, String)>);

/// What one query of a stream did.
pub struct Timed {
    pub query: u8,
    /// Clause 5.3.7.2: until the text of the next query is sent; of the last one, until its last row is read.
    pub interval: Duration,
    pub rows: Option<u64>,
    /// Class of the error and what happened.
    pub trouble: Option<(String, String)>,
}

impl Texts {
    /// Clause 2.1.3.3: the parameters of stream s come from the seed of the power test plus s.
    pub fn new(stream: u16, seed: u64, scale: &ScaleFactor) -> Self {
        let seed = seed.wrapping_add(u64::from(stream));
        let text = |query| {
            let values = parameters::of(query, parameters::Choice::Random, seed, scale);
            (query, queries::text(query, &values))
        };
        Texts(ordering::of_stream(stream).iter().map(|query| text(*query)).collect())
    }

    /// The texts alone.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, text)| text.as_str())
    }

    /// Runs the queries; an error of one is noted, and the next one follows.
    pub async fn run<S: Session>(
        &self,
        session: &S,
        limit: Duration,
        progress: &Progress,
    ) -> Result<Vec<Timed>, Failure> {
        let mut timed: Vec<Timed> = Vec::with_capacity(self.0.len());
        let mut began = Instant::now();
        for (query, text) in &self.0 {
            let outcome = execute(session, *query, text, limit).await?;
            let now = Instant::now();
            let (rows, trouble) = match outcome {
                Outcome::Answered { rows, .. } => (Some(rows), None),
                Outcome::Failed { class, trouble } => (None, Some((class, trouble))),
            };
            timed.push(Timed { query: *query, interval: now - began, rows, trouble });
            began = now;
            progress.advance(1);
        }
        Ok(timed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_their_own_order_and_their_own_parameters() {
        let scale = "1".parse().unwrap();
        let texts = |stream| Texts::new(stream, 42, &scale).0;
        let order = |stream| texts(stream).iter().map(|(query, _)| *query).collect::<Vec<_>>();
        assert_eq!(order(3), ordering::of_stream(3));
        let sorted = |stream| {
            let mut all = texts(stream);
            all.sort();
            all
        };
        for stream in 1..=8 {
            let differ = sorted(0).iter().zip(&sorted(stream)).filter(|(a, b)| a != b).count();
            assert!(differ > 15, "stream {stream} shares {} queries with stream 0", 22 - differ);
        }
        // The same seed gives the same streams; stream 1 of a seed is stream 0 of the next one, but for the order.
        assert_eq!(sorted(1), {
            let mut all = Texts::new(0, 43, &scale).0;
            all.sort();
            all
        });
    }
}
