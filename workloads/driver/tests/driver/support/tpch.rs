//! What TPC-H's results have to show, whatever the engine.

use serde_json::Value;

pub const STREAM_0: &str = "Q14 Q2 Q9 Q20 Q6 Q17 Q18 Q8 Q21 Q13 Q3 Q22 Q16 Q4 Q11 Q15 Q1 Q10 Q19 Q5 Q7 Q12";
pub const STREAM_1: &str = "Q21 Q3 Q18 Q5 Q11 Q7 Q6 Q20 Q17 Q12 Q16 Q15 Q13 Q10 Q2 Q8 Q14 Q19 Q9 Q22 Q1 Q4";

/// Asserts that a check has compared the answers of all 22 queries, and that all checks hold.
pub fn all_answers_agree(checked: &Value) {
    let checks = checked["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["ok"] == true), "{checks:?}");
    let answers = checks.iter().filter(|check| check["name"].as_str().unwrap().starts_with("2.3 Q"));
    assert_eq!(answers.count(), 22);
}

/// Operations of one stream, in their order.
pub fn of_stream(document: &Value, stream: u64) -> Vec<&Value> {
    let all = document["operations"].as_array().unwrap();
    all.iter().filter(|operation| operation["stream"] == stream).collect()
}

pub fn names(operations: &[&Value]) -> String {
    operations.iter().map(|operation| operation["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// Runs the power test and both tests together on fresh data of scale factor 0.01. `measured` runs the driver.
/// After each, the check finds the rows that the update sets leave.
pub fn refresh_functions_change_the_data_by_whole_sets(measured: impl Fn(&str) -> Value) {
    measured("tpch load --scale-factor 0.01 --progress none");
    let power = measured("tpch run --test power --progress none");
    assert_eq!(names(&of_stream(&power, 0)), format!("{STREAM_0} RF1 RF2"));
    let rows = |document: &Value, stream, position: usize| {
        of_stream(document, stream)[22 + position]["rows"].as_u64().unwrap()
    };
    // 15 orders with one to seven lines each.
    for position in [0, 1] {
        assert!((30..=120).contains(&rows(&power, 0, position)), "{power}");
    }
    let checked = measured("tpch check --progress none");
    assert_eq!(checked["parameters"]["refreshPairs"], 1);
    let full = measured("tpch run --test full --streams 2 --progress none");
    assert_eq!(full["parameters"]["refreshPairs"], 1);
    assert_eq!(names(&of_stream(&full, 1)), format!("{STREAM_1} RF1 RF2"));
    assert_eq!(full["operations"].as_array().unwrap().len(), 3 * 24);
    let checked = measured("tpch check --progress none");
    assert_eq!(checked["parameters"]["refreshPairs"], 4);
}
