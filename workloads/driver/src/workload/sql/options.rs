//! Arguments that name scripts and variables.

use std::collections::BTreeMap;

use super::builtin::{self, Builtin};
use super::variable::is_name;
use crate::failure::{Exit, Failure};

/// `NAME` or `NAME@WEIGHT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighted {
    pub name: String,
    pub weight: u32,
}

pub fn weighted(text: &str) -> Result<Weighted, String> {
    let (name, weight) = match text.rsplit_once('@') {
        None => (text, 1),
        Some((name, weight)) => match weight.parse() {
            Ok(weight) => (name, weight),
            Err(_) => return Err(format!("the weight {weight:?} behind @ is not a whole number")),
        },
    };
    if name.is_empty() {
        return Err("a script is named before the @".into());
    }
    Ok(Weighted { name: name.into(), weight })
}

pub fn weighted_builtin(text: &str) -> Result<Weighted, String> {
    let weighted = weighted(text)?;
    builtin::find(&weighted.name)?;
    Ok(weighted)
}

/// `name=value`.
pub fn definition(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.into(), value.into())),
        _ => Err("write name=value, with a name of letters, digits and _".into()),
    }
}

/// The text of a script and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// For the result: unique among the scripts of a run.
    pub name: String,
    /// For messages.
    pub path: String,
    pub text: String,
    pub weight: u32,
}

/// The scripts of a run, those that come with the driver first.
pub fn sources(builtins: &[Weighted], files: &[Weighted]) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for Weighted { name, weight } in builtins {
        let Builtin { name, text } = builtin::find(name).map_err(Failure::arguments)?;
        sources.push(Source {
            name: name.to_string(),
            path: name.to_string(),
            text: text.to_string(),
            weight: *weight,
        });
    }
    for file in files {
        sources.push(source(file)?);
    }
    if sources.is_empty() {
        return Err(Failure::arguments("give --script FILE or --builtin NAME"));
    }
    if sources.iter().all(|source| source.weight == 0) {
        return Err(Failure::arguments("the weights of the scripts are all 0"));
    }
    number(&mut sources);
    Ok(sources)
}

/// The script in a file.
pub fn source(Weighted { name: path, weight }: &Weighted) -> Result<Source, Failure> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::arguments(format!("--script {path} cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::new(Exit::Arguments, "InvalidScript", format!("--script {path} is not UTF-8 text"))
    })?;
    let stem = std::path::Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    Ok(Source { name: stem.into_owned(), path: path.clone(), text, weight: *weight })
}

/// Tells scripts of one name apart: `a`, `a#2`, `a#3`.
fn number(sources: &mut [Source]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for source in sources {
        let count = seen.entry(source.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            source.name = format!("{}#{count}", source.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_follows_the_last_at_sign() {
        let of = |name: &str, weight| Ok(Weighted { name: name.into(), weight });
        assert_eq!(weighted("a.sql"), of("a.sql", 1));
        assert_eq!(weighted("me@home/a.sql@3"), of("me@home/a.sql", 3));
        assert_eq!(weighted("a@0"), of("a", 0));
        assert!(weighted("a@x").unwrap_err().contains("\"x\""));
        assert!(weighted("a@-1").is_err() && weighted("@1").is_err());
        assert!(weighted_builtin("tpcb").unwrap_err().contains("tpcb-like"));
    }

    #[test]
    fn definitions_have_a_name_and_a_value() {
        assert_eq!(definition("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert_eq!(definition("a="), Ok(("a".into(), "".into())));
        assert!(definition("a").is_err() && definition("1a=2").is_err());
    }

    #[test]
    fn scripts_of_one_name_are_numbered() {
        let one = Weighted { name: "select-only".into(), weight: 1 };
        let names: Vec<String> = sources(&[one.clone(), one.clone(), one], &[])
            .unwrap()
            .into_iter()
            .map(|source| source.name)
            .collect();
        assert_eq!(names, ["select-only", "select-only#2", "select-only#3"]);
    }

    #[test]
    fn without_a_script_that_can_run_nothing_runs() {
        assert!(sources(&[], &[]).unwrap_err().message.contains("--builtin"));
        let idle = Weighted { name: "tpcb-like".into(), weight: 0 };
        assert!(sources(&[idle], &[]).unwrap_err().message.contains("all 0"));
        let missing = Weighted { name: "/nonexistent/a.sql".into(), weight: 1 };
        assert!(sources(&[], &[missing]).unwrap_err().message.contains("/nonexistent/a.sql"));
    }
}
