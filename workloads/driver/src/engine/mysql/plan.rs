//! The shape of a query plan, apart from the values in it.

use serde_json::Value;

use crate::engine::fingerprint;

/// Attributes that make two plans different. Conditions are left out, because they hold the substitution
/// parameters; costs and row estimates, because they follow samples.
const SHAPE: [&str; 19] = [
    "access_type",
    "buffer_type",
    "dependent",
    "distinct",
    "first_match",
    "join_algorithm",
    "join_type",
    "key",
    "key_length",
    "loosescan",
    "not_exists",
    "operation",
    "select_id",
    "table_name",
    "used_key_parts",
    "using_filesort",
    "using_index",
    "using_join_buffer",
    "using_temporary_table",
];

/// sha256 of the plan that `EXPLAIN FORMAT=JSON` printed, shortened to 16 hexadecimal digits.
pub fn fingerprint(explained: &str) -> Option<String> {
    let document: Value = serde_json::from_str(explained).ok()?;
    document.as_object()?;
    let mut shape = String::new();
    outline(&document, &mut shape);
    Some(fingerprint::of_shape(&shape))
}

/// Both servers nest objects and arrays of objects; names of the levels (`nested_loop`, `filesort`, ...) count.
fn outline(node: &Value, shape: &mut String) {
    match node {
        Value::Object(members) => {
            shape.push('(');
            for (name, value) in members {
                if SHAPE.contains(&name.as_str()) {
                    shape.push_str(&format!("{name}={value};"));
                } else if is_level(value) {
                    shape.push_str(name);
                    outline(value, shape);
                }
            }
            shape.push(')');
        }
        Value::Array(items) => items.iter().for_each(|item| outline(item, shape)),
        _ => {}
    }
}

fn is_level(value: &Value) -> bool {
    value.is_object() || value.as_array().is_some_and(|items| items.iter().any(Value::is_object))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(access: &str, condition: &str, rows: u32) -> String {
        format!(
            r#"{{"query_block":{{"select_id":1,"cost":{rows},"filesort":{{"sort_key":"a","temporary_table":
            {{"nested_loop":[{{"table":{{"table_name":"t","access_type":"{access}","rows":{rows},
            "possible_keys":["a"],"attached_condition":"{condition}"}}}}]}}}}}}}}"#
        )
    }

    #[test]
    fn the_fingerprint_follows_the_shape_and_not_the_values_or_estimates() {
        let scan = fingerprint(&plan("ALL", "a = 1", 10)).unwrap();
        assert_eq!(scan.len(), 16);
        assert_eq!(Some(scan.clone()), fingerprint(&plan("ALL", "a = 2", 20)));
        assert_ne!(Some(scan.clone()), fingerprint(&plan("range", "a = 1", 10)));
        assert_ne!(Some(scan), fingerprint(&plan("ALL", "a = 1", 10).replace("filesort", "read_sorted")));
    }

    #[test]
    fn what_is_not_a_plan_has_no_fingerprint() {
        assert_eq!(fingerprint("none"), None);
        assert_eq!(fingerprint("[]"), None);
    }
}
