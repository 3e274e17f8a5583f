//! The shape of a query plan, apart from the values in it.

use serde_json::Value;

use crate::engine::fingerprint;

/// Attributes of a plan node that make two plans different. Conditions are left out: they hold the
/// substitution parameters.
const SHAPE: [&str; 14] = [
    "Node Type",
    "Parent Relationship",
    "Strategy",
    "Partial Mode",
    "Join Type",
    "Scan Direction",
    "Index Name",
    "Relation Name",
    "Alias",
    "Subplan Name",
    "Workers Planned",
    "Parallel Aware",
    "Inner Unique",
    "Command",
];

/// The fingerprint of the plan that `EXPLAIN (FORMAT JSON)` printed.
pub fn fingerprint(explained: &str) -> Option<String> {
    let document: Value = serde_json::from_str(explained).ok()?;
    let mut shape = String::new();
    outline(document.get(0)?.get("Plan")?, &mut shape);
    Some(fingerprint::of_shape(&shape))
}

fn outline(node: &Value, shape: &mut String) {
    shape.push('(');
    for key in SHAPE {
        if let Some(value) = node.get(key) {
            shape.push_str(&format!("{key}={value};"));
        }
    }
    for child in node.get("Plans").and_then(Value::as_array).into_iter().flatten() {
        outline(child, shape);
    }
    shape.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(node: &str, filter: &str) -> String {
        format!(
            r#"[{{"Plan":{{"Node Type":"Limit","Plans":[{{"Node Type":"{node}","Filter":"{filter}"}}]}}}}]"#
        )
    }

    #[test]
    fn the_fingerprint_follows_the_shape_and_not_the_values() {
        let scan = fingerprint(&plan("Seq Scan", "a = 1")).unwrap();
        assert_eq!(scan.len(), 16);
        assert_eq!(Some(scan.clone()), fingerprint(&plan("Seq Scan", "a = 2")));
        assert_ne!(Some(scan), fingerprint(&plan("Index Scan", "a = 1")));
    }

    #[test]
    fn what_is_not_a_plan_has_no_fingerprint() {
        assert_eq!(fingerprint("none"), None);
        assert_eq!(fingerprint("[]"), None);
    }
}
