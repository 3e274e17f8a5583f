//! What single events cost here: their counts times these costs explain where system time went.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use dbbench_probes::{cpu, event_costs, Cost, Figure, Settings};
use serde::Serialize;

/// How long each figure is measured. There are four, so that asking for facts takes half a second longer, once.
const TIME: Duration = Duration::from_millis(100);

/// One figure of docs/workloads/micro.md: its cost, or why this machine does not have it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnitCost {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
}

/// Unit costs, measured when they are first asked for: that is once the database answers and before it is ready for work,
/// and the agent is started anew with the database.
#[derive(Debug, Default)]
pub struct UnitCosts(OnceLock<Vec<UnitCost>>);

impl UnitCosts {
    pub fn read(&self) -> Vec<UnitCost> {
        self.0.get_or_init(measure).clone()
    }
}

/// Empty where it is not known which CPUs may be used.
fn measure() -> Vec<UnitCost> {
    let Ok(cpus) = cpu::allowed() else { return Vec::new() };
    let settings = Settings {
        time: TIME,
        // The last ones first: the first CPU is the one that serves most interrupts.
        cpus: cpus.into_iter().rev().collect(),
        threads: vec![1],
        memory: 16 << 20,
        directory: PathBuf::new(),
        file_bytes: 0,
        sort_sizes: Vec::new(),
        seed: 0,
    };
    event_costs(&settings).into_iter().map(UnitCost::from).collect()
}

impl From<Figure> for UnitCost {
    fn from(figure: Figure) -> Self {
        let (cost, unavailable) = match figure.outcome {
            Ok(cost) => (Some(cost), None),
            Err(reason) => (None, Some(reason)),
        };
        UnitCost { name: figure.name, cost, unavailable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_measured_once() {
        let costs = UnitCosts::default();
        let (first, second) = (costs.read(), costs.read());
        let text = |found: &Vec<UnitCost>| serde_json::to_value(found).unwrap();
        assert_eq!(text(&first), text(&second));
        let fault = &text(&first)[1];
        assert_eq!(fault["name"], "PAGE_FAULT_4K");
        assert!(fault["cost"]["meanSeconds"].as_f64().unwrap() > 0.0);
    }

    #[test]
    fn what_is_not_available_says_why() {
        let figure = Figure {
            name: "CONTEXT_SWITCH".into(),
            threads: 1,
            outcome: Err("only 3 switches".into()),
            evidence: Default::default(),
        };
        let expected = serde_json::json!({"name": "CONTEXT_SWITCH", "unavailable": "only 3 switches"});
        assert_eq!(serde_json::to_value(UnitCost::from(figure)).unwrap(), expected);
    }
}
