//! Connections to a server that is not up yet, or has none free at the moment.

use std::time::{Duration, Instant};

use super::{Dialect, Engine, EngineError, ErrorKind};

/// Pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(250);

/// What an attempt may take at least, however little time is left.
const LEAST: Duration = Duration::from_secs(1);

/// An engine that is waited for: every connection, not just a command's first one, is tried again until the
/// patience is over. Where waiting is no use, as with a wrong password, it fails at once.
#[derive(Clone)]
pub struct Patient<E> {
    engine: E,
    patience: Duration,
}

impl<E: Engine> Patient<E> {
    pub fn new(engine: E, patience: Duration) -> Self {
        Patient { engine, patience }
    }

    async fn attempt(&self, left: Duration) -> Result<E::Session, EngineError> {
        let silent = || EngineError::new(ErrorKind::NotReady, "timeout", "no answer");
        tokio::time::timeout(left.max(LEAST), self.engine.connect()).await.unwrap_or_else(|_| Err(silent()))
    }
}

impl<E: Engine> Engine for Patient<E> {
    type Session = E::Session;

    async fn connect(&self) -> Result<E::Session, EngineError> {
        let address = self.engine.address();
        let began = Instant::now();
        loop {
            let error = match self.attempt(self.patience.saturating_sub(began.elapsed())).await {
                Ok(session) => return Ok(session),
                Err(error) => error,
            };
            // An error on a fresh connection can mean that the server is on its way up.
            if !matches!(error.kind, ErrorKind::NotReady | ErrorKind::ConnectionLost) {
                return Err(EngineError { message: format!("no connection to {address}: {error}"), ..error });
            }
            if began.elapsed() + PAUSE >= self.patience {
                let limit = self.patience.as_secs_f64();
                let message = format!("no connection to {address} within {limit} s: {error}");
                return Err(EngineError { kind: ErrorKind::NotReady, message, ..error });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn address(&self) -> String {
        self.engine.address()
    }

    fn dialect(&self) -> Dialect {
        self.engine.dialect()
    }
}
