//! A result as it leaves the process: its line, and what in it decides on success.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Check, Document};

pub struct Finished {
    pub line: String,
    pub checks: Vec<Check>,
    pub invalid_reasons: Vec<String>,
}

impl From<Document> for Finished {
    fn from(document: Document) -> Self {
        Finished {
            line: document.to_line(),
            checks: document.checks,
            invalid_reasons: document.invalid_reasons,
        }
    }
}

/// `kind` stands first, because readers of merged logs recognise the line by it.
#[derive(Serialize)]
struct Line {
    kind: &'static str,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The line of a result that was read, or put together, as JSON.
pub fn document_line(mut document: Map<String, Value>) -> String {
    document.remove("kind");
    serde_json::to_string(&Line { kind: "Result", rest: document }).expect("JSON stays JSON")
}
