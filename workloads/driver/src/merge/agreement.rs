//! What results must have in common to be one, and how their windows lie in time.

use std::time::SystemTime;

use serde_json::Value;

use super::{refuse, Part};
use crate::failure::Failure;
use crate::measure::Phase;
use crate::workload::gathering::OWN_PARAMETERS;
use crate::workload::{sql, tatp, tpcc, tpch};

/// Windows are side by side when they share at least this part of the longest.
const TOGETHER: f64 = 0.9;

/// How the parts belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// One after the other: what was counted is of all their time.
    Trials,
    /// Side by side: rates add up.
    Processes,
}

impl Arrangement {
    pub fn name(self) -> &'static str {
        match self {
            Arrangement::Trials => "trials",
            Arrangement::Processes => "processes",
        }
    }

    /// The rate of all parts, whose windows have one length, from the sum of their rates.
    pub fn rate(self, sum: f64, parts: usize) -> f64 {
        match self {
            Arrangement::Trials => sum / parts as f64,
            Arrangement::Processes => sum,
        }
    }
}

/// Refuses results that are not parts of one measurement; names the field in which they differ.
pub fn require(parts: &[Part]) -> Result<(), Failure> {
    let first = &parts[0];
    for part in parts {
        suitable(part)?;
    }
    for part in &parts[1..] {
        for field in [
            "/schemaVersion",
            "/driver/version",
            "/workload",
            "/data/digest",
            "/server/engine",
            "/server/version",
        ] {
            same(
                first,
                part,
                &field[1..].replace('/', "."),
                first.all.pointer(field),
                part.all.pointer(field),
            )?;
        }
        let names = first.parameters.keys().chain(part.parameters.keys());
        for name in names.filter(|name| !OWN_PARAMETERS.contains(&name.as_str()) && *name != "processIndex") {
            same(
                first,
                part,
                &format!("parameters.{name}"),
                first.parameters.get(name),
                part.parameters.get(name),
            )?;
        }
        if first.operations.len() != part.operations.len() {
            return Err(differ(first, part, "operations", "other ones"));
        }
        for (index, mine) in first.operations.iter().enumerate() {
            for field in ["name", "planFingerprint"] {
                let of = |part: &'_ Part| part.all.pointer(&format!("/operations/{index}/{field}")).cloned();
                let name = format!("operations[{}].{field}", mine.name);
                same(first, part, &name, of(first).as_ref(), of(part).as_ref())?;
            }
        }
    }
    for (index, part) in parts.iter().enumerate() {
        if let Some(twin) = parts[..index].iter().find(|twin| twin.all == part.all) {
            return Err(refuse(format!("{} and {} are the same result", twin.file, part.file)));
        }
    }
    Ok(())
}

/// Refuses results that are no part of anything.
fn suitable(part: &Part) -> Result<(), Failure> {
    let file = &part.file;
    if part.command != "run" {
        return Err(refuse(format!(
            "{file}: command is {:?}; only results of run can be merged",
            part.command
        )));
    }
    if ![tpch::NAME, tpcc::NAME, tatp::NAME, sql::NAME].contains(&part.workload.as_str()) {
        return Err(refuse(format!("{file}: workload is {:?}; there is no merging for it", part.workload)));
    }
    match part.parameters.get("test").and_then(Value::as_str) {
        None | Some("queries") => {}
        Some(test) => {
            return Err(refuse(format!(
                "{file}: parameters.test is {test:?}, whose figures are of one run each"
            )));
        }
    }
    if part.all.get("merged").is_some() {
        return Err(refuse(format!(
            "{file}: merged: it is merged already; give the results that it is made of"
        )));
    }
    let follows = part.parameters.get("processIndex").and_then(Value::as_u64).unwrap_or(0) > 0;
    // Processes that run queries begin together, and each reports its own.
    if follows && part.workload != tpch::NAME {
        return Err(refuse(format!(
            "{file}: parameters.processIndex: the result of the process that led has this part in it already"
        )));
    }
    Ok(())
}

fn same(
    first: &Part,
    part: &Part,
    field: &str,
    mine: Option<&Value>,
    theirs: Option<&Value>,
) -> Result<(), Failure> {
    match mine == theirs {
        true => Ok(()),
        false => {
            let show = |value: Option<&Value>| value.map_or("absent".into(), Value::to_string);
            Err(differ(first, part, field, &format!("{} and {}", show(mine), show(theirs))))
        }
    }
}

fn differ(first: &Part, part: &Part, field: &str, how: &str) -> Failure {
    refuse(format!("{} and {} differ in {field}: {how}", first.file, part.file))
}

/// The measured window.
pub fn window(part: &Part) -> Result<&Phase, Failure> {
    let found = part.phases.iter().find(|phase| phase.name == "measure");
    found.ok_or_else(|| refuse(format!("{}: phases: there is no measured window", part.file)))
}

/// How the measured windows lie to each other.
pub fn arrangement(parts: &[Part]) -> Result<Arrangement, Failure> {
    let mut spans = Vec::new();
    for part in parts {
        let window = window(part)?;
        let time = |text: &str| {
            humantime::parse_rfc3339(text)
                .map_err(|error| refuse(format!("{}: phases: {text:?}: {error}", part.file)))
        };
        spans.push((time(&window.start)?, time(&window.end)?));
    }
    match lie(&mut spans) {
        Ok(Arrangement::Processes) if parts[0].workload == tpch::NAME => Err(refuse(
            "the measured windows overlap: queries that ran side by side slowed each other down, and are no trials",
        )),
        Ok(arrangement) => Ok(arrangement),
        Err(share) => Err(refuse(format!(
            "the measured windows share {:.0} % of their time: they are neither one after the other (trials) nor \
             side by side (processes, at least {:.0} %)",
            share * 100.0,
            TOGETHER * 100.0
        ))),
    }
}

/// The error is the share of the longest span that all have in common.
fn lie(spans: &mut [(SystemTime, SystemTime)]) -> Result<Arrangement, f64> {
    spans.sort_unstable();
    if spans.windows(2).all(|pair| pair[0].1 <= pair[1].0) {
        return Ok(Arrangement::Trials);
    }
    let seconds =
        |from: SystemTime, to: SystemTime| to.duration_since(from).map_or(0.0, |time| time.as_secs_f64());
    let start = spans.iter().map(|span| span.0).max().unwrap_or(SystemTime::UNIX_EPOCH);
    let end = spans.iter().map(|span| span.1).min().unwrap_or(SystemTime::UNIX_EPOCH);
    let longest = spans.iter().map(|span| seconds(span.0, span.1)).fold(0.0, f64::max);
    let share = seconds(start, end) / longest.max(f64::MIN_POSITIVE);
    if share >= TOGETHER {
        Ok(Arrangement::Processes)
    } else {
        Err(share)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn of(spans: &[(u64, u64)]) -> Result<Arrangement, f64> {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        lie(&mut spans.iter().map(|(from, to)| (at(*from), at(*to))).collect::<Vec<_>>())
    }

    #[test]
    fn windows_are_one_after_the_other_or_side_by_side_or_refused() {
        assert_eq!(of(&[(100, 160), (0, 60), (60, 100)]), Ok(Arrangement::Trials));
        assert_eq!(of(&[(0, 100), (5, 105), (3, 103)]), Ok(Arrangement::Processes));
        assert_eq!(of(&[(0, 100), (50, 150)]), Err(0.5));
        assert_eq!(of(&[(0, 100), (1, 101), (200, 300)]), Err(0.0));
    }
}
