//! Phases of a run, in wall-clock time.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A named phase with its start and end in UTC (RFC 3339, milliseconds).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    pub start: String,
    pub end: String,
}

/// A phase that has begun.
pub struct PhaseTimer {
    name: &'static str,
    start: SystemTime,
}

impl PhaseTimer {
    pub fn start(name: &'static str) -> Self {
        PhaseTimer { name, start: SystemTime::now() }
    }

    pub fn end(self) -> Phase {
        Phase { name: self.name.into(), start: timestamp(self.start), end: timestamp(SystemTime::now()) }
    }
}

fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_utc_with_milliseconds() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_248_000_123);
        assert_eq!(timestamp(time), "2026-11-21T08:00:00.123Z");
    }
}
