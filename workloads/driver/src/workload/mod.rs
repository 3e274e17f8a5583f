//! The workloads. Each one knows its data, its operations and its consistency conditions, and no engine.

pub mod at_target;
pub mod attempt;
pub mod beside;
pub mod conditions;
pub mod gate;
pub mod gathering;
pub mod micro;
pub mod random;
pub mod run;
pub mod sql;
pub mod tatp;
pub mod tpcc;
pub mod tpch;
pub mod zachmann;

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The texts of all Rust files below a folder.
    fn sources(folder: &Path, texts: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, texts);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn the_clause_tables_name_tests_that_exist_or_a_deviation() {
        let driver = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut texts = Vec::new();
        sources(&driver.join("src"), &mut texts);
        sources(&driver.join("tests"), &mut texts);
        let exists = |test: &str| {
            let declared = format!("#[test]\nfn {test}()");
            let nested = format!("#[test]\n    fn {test}()");
            texts.iter().any(|text| text.contains(&declared) || text.contains(&nested))
        };
        for (page, least) in [("tpch", 20), ("tpcc", 14), ("tatp", 6)] {
            let path = driver.join(format!("../../docs/workloads/{page}.md"));
            let text = std::fs::read_to_string(&path).unwrap();
            let table = text.lines().skip_while(|line| !line.ends_with("| proved by |")).skip(2);
            let rows: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
            assert!(rows.len() >= least, "{page}: {} rows", rows.len());
            for row in rows {
                let proof = row.trim_end_matches('|').rsplit('|').next().unwrap();
                let named: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
                assert!(!named.is_empty() || proof.contains("deviation: "), "{page}: {row}");
                for test in named {
                    assert!(exists(test), "{page}: there is no test {test}");
                }
            }
        }
    }
}
