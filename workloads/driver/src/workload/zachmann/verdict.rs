//! Whether a run counts, and how evenly the work processes got on.

use super::Pages;
use crate::report::WorkProcess;

/// With huge pages asked for, this share of the tables has to be in them.
const HUGE_SHARE: f64 = 0.95;

/// Jain's index: 1 when all rates are equal, 1/n when one process has everything.
pub fn fairness(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    match squares > 0.0 {
        true => sum * sum / (rates.len() as f64 * squares),
        false => 0.0,
    }
}

/// Why a run does not count. `swapped_in` is the number of pages that the machine brought in from swap space during
/// the window, where it tells. System time must be less than `system_percent` of the CPU time.
pub fn objections(
    processes: &[WorkProcess],
    swapped_in: Option<u64>,
    pages: Pages,
    system_percent: f64,
) -> Vec<String> {
    let sum = |field: fn(&WorkProcess) -> f64| processes.iter().map(field).sum::<f64>();
    let mut found = Vec::new();
    let (user, system) = (sum(|process| process.user_seconds), sum(|process| process.system_seconds));
    let percent = if user + system > 0.0 { 100.0 * system / (user + system) } else { 0.0 };
    if percent >= system_percent {
        found.push(format!("system time is {percent:.1} % of the CPU time (limit {system_percent} %)"));
    }
    for process in processes {
        let number = process.number;
        if let Some(bytes @ 1..) = process.swapped_bytes {
            found.push(format!("{bytes} bytes of work process {number} are in swap space"));
        }
        if process.major_faults > 0 {
            let faults = process.major_faults;
            found.push(format!("work process {number} waited for a device in {faults} major page faults"));
        }
        if process.wrong_records > 0 {
            let wrong = process.wrong_records;
            found.push(format!(
                "work process {number} found another record than the one asked for {wrong} times"
            ));
        }
        if process.reads == 0 {
            found.push(format!("work process {number} read no record"));
        }
    }
    if let Some(pages @ 1..) = swapped_in {
        found.push(format!("the machine brought {pages} pages in from swap space"));
    }
    found.extend(huge_page_objection(processes, pages));
    found
}

fn huge_page_objection(processes: &[WorkProcess], pages: Pages) -> Option<String> {
    let (table, huge) = processes
        .iter()
        .fold((0, 0), |(table, huge), process| (table + process.table_bytes, huge + process.huge_page_bytes));
    let share = huge as f64 / table.max(1) as f64;
    (pages != Pages::Small && share < HUGE_SHARE).then(|| {
        format!(
            "{:.0} % of the tables are in huge pages (at least {:.0} % must be); memory is fragmented, or --pages 4K",
            share * 100.0,
            HUGE_SHARE * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> WorkProcess {
        WorkProcess {
            number: 1,
            reads: 1000,
            user_seconds: 9.6,
            system_seconds: 0.4,
            swapped_bytes: Some(0),
            table_bytes: 100 << 20,
            ..WorkProcess::default()
        }
    }

    #[test]
    fn a_clean_run_counts() {
        assert_eq!(objections(&[process(), process()], Some(0), Pages::Small, 5.0), Vec::<String>::new());
        assert_eq!(objections(&[process()], None, Pages::Small, 5.0), Vec::<String>::new());
    }

    #[test]
    fn each_rule_of_the_paper_is_enforced() {
        type Spoil = fn(&mut WorkProcess);
        let broken: [(&str, Spoil); 5] = [
            ("system time is 5.0 %", |process| (process.user_seconds, process.system_seconds) = (9.5, 0.5)),
            ("8192 bytes of work process 1 are in swap", |process| process.swapped_bytes = Some(8192)),
            ("3 major page faults", |process| process.major_faults = 3),
            ("another record", |process| process.wrong_records = 1),
            ("read no record", |process| process.reads = 0),
        ];
        for (expected, spoil) in broken {
            let mut process = process();
            spoil(&mut process);
            let found = objections(&[process], Some(0), Pages::Small, 5.0);
            assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
        }
        let found = objections(&[process()], Some(7), Pages::Small, 5.0);
        assert!(found.len() == 1 && found[0].contains("7 pages in from swap"), "{found:?}");
    }

    #[test]
    fn how_much_system_time_is_too_much_can_be_said() {
        let mut process = process();
        (process.user_seconds, process.system_seconds) = (9.0, 1.0);
        let of = |limit| objections(std::slice::from_ref(&process), Some(0), Pages::Small, limit);
        assert_eq!(of(10.0), ["system time is 10.0 % of the CPU time (limit 10 %)"]);
        assert!(of(12.5).is_empty());
    }

    #[test]
    fn huge_pages_that_were_asked_for_must_be_there() {
        let mut process = process();
        process.huge_page_bytes = 94 << 20;
        let found = objections(std::slice::from_ref(&process), Some(0), Pages::Transparent, 5.0);
        assert!(found.len() == 1 && found[0].starts_with("94 %"), "{found:?}");
        process.huge_page_bytes = 100 << 20;
        assert!(objections(&[process], Some(0), Pages::Huge, 5.0).is_empty());
    }

    #[test]
    fn fairness_is_jains_index() {
        assert_eq!(fairness(&[5.0, 5.0, 5.0]), 1.0);
        assert_eq!(fairness(&[9.0, 0.0, 0.0]), 1.0 / 3.0);
        assert!((fairness(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(fairness(&[]), 0.0);
    }
}
