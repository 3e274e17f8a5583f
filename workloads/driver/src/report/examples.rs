//! The documentation's examples of results, held against the schema.

use std::path::{Path, PathBuf};

use serde_json::Value;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the documentation").flatten() {
        match entry.path() {
            path if path.is_dir() => pages(&path, found),
            path if path.extension().is_some_and(|suffix| suffix == "md") => found.push(path),
            _ => {}
        }
    }
}

/// The texts between "```json" and "```".
fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```json\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap_or_default()).collect()
}

#[test]
fn results_in_the_documentation_follow_the_schema() {
    let schema = read(&project().join("workloads/schema/result.schema.json"));
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let (mut files, mut results) = (Vec::new(), 0);
    pages(&project().join("docs"), &mut files);
    for file in files {
        for example in examples(&read(&file)) {
            let document: Value = serde_json::from_str(example)
                .unwrap_or_else(|error| panic!("{}: {error}: {example}", file.display()));
            if document["kind"] == "Result" {
                results += 1;
                let errors: Vec<String> = schema
                    .iter_errors(&document)
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(errors.is_empty(), "{}: {errors:#?}", file.display());
            }
        }
    }
    assert!(results > 0, "there is no example of a result");
}

#[test]
fn the_index_of_workloads_has_every_page_and_no_other() {
    let index = read(&project().join("docs/workloads.md"));
    let mut linked: Vec<&str> =
        index.split("](workloads/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let mut files = Vec::new();
    pages(&project().join("docs/workloads"), &mut files);
    let mut there: Vec<&str> =
        files.iter().filter_map(|file| file.file_name().and_then(|name| name.to_str())).collect();
    linked.sort_unstable();
    linked.dedup();
    there.sort_unstable();
    assert_eq!(linked, there);
}
