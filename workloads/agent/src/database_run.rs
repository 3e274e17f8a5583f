//! A workload run beside the database and on it: what may be asked for, and the command line that it becomes.
//!
//! The request has options of the driver and their values. Which database they are for, and the way to it, stands in
//! the agent's configuration alone.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::config::DatabaseAccess;

/// Options that a request may have. None of them names a file, an address or a program.
const OPTIONS: [&str; 16] = [
    "--cache",
    "--clients",
    "--connect-timeout",
    "--connection",
    "--distribution",
    "--duration",
    "--queries",
    "--query-timeout",
    "--runs",
    "--scale-factor",
    "--schema",
    "--seed",
    "--subscribers",
    "--warehouses",
    "--warmup",
    "--warmup-runs",
];
/// Bytes of a value: all 22 queries, twice over.
const LONGEST_VALUE: usize = 128;

/// Options of `dbbench-driver WORKLOAD run`, and which agents look on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseRun {
    /// Each with its value.
    pub options: Vec<(OptionName, Value)>,
    /// Port of the agent beside the hypervisor, which answers at this guest's gateway; None in a container.
    pub host_agent_port: Option<u16>,
}

/// The name of an option that may be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct OptionName(String);

/// A value that is no option itself and nothing but a word, a number or a list of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Value(String);

impl TryFrom<String> for OptionName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match OPTIONS.contains(&name.as_str()) {
            true => Ok(OptionName(name)),
            false => Err(format!("{name:?} is no option of a run at the target")),
        }
    }
}

impl TryFrom<String> for Value {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._,%-".contains(&byte);
        match text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.len() <= LONGEST_VALUE
            && text.bytes().all(plain)
        {
            true => Ok(Value(text)),
            false => Err(format!("{text:?} is no value of an option")),
        }
    }
}

impl DatabaseRun {
    /// The driver's command line, without the program and the agent beside the database. The error says what this
    /// machine lacks.
    pub(crate) fn arguments(&self, workload: &str, access: &DatabaseAccess) -> Result<Vec<String>, String> {
        let mut line: Vec<String> = vec![workload.into(), "run".into()];
        for (OptionName(name), Value(value)) in &self.options {
            line.extend([name.clone(), value.clone()]);
        }
        line.extend(["--url".into(), access.url.clone()]);
        if let Some(file) = &access.password_file {
            line.extend(["--password-file".into(), file.display().to_string()]);
        }
        if let Some(port) = self.host_agent_port {
            let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
            let gateway = gateway(&routes).ok_or("there is no gateway, so there is no hypervisor's agent")?;
            line.extend(["--host-agent".into(), format!("http://{gateway}:{port}")]);
        }
        Ok(line)
    }
}

/// The gateway of the default route in the kernel's table (proc(5)): addresses are numbers in hexadecimal, in the
/// byte order of the machine.
fn gateway(routes: &str) -> Option<Ipv4Addr> {
    routes.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let address = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        let (destination, gateway, mask) = (address(1)?, address(2)?, address(7)?);
        (destination == 0 && mask == 0 && gateway != 0).then(|| Ipv4Addr::from(gateway.to_ne_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"{"options":[["--clients","8"],["--queries","1,6,14"],["--schema","my-orders"]],"hostAgentPort":null}"#;

    fn access() -> DatabaseAccess {
        DatabaseAccess {
            url: "postgres://bench@127.0.0.1:5432/bench".into(),
            password_file: Some("/secret/password".into()),
        }
    }

    #[test]
    fn the_way_to_the_database_is_that_of_the_configuration() {
        let run: DatabaseRun = serde_json::from_str(REQUEST).unwrap();
        assert_eq!(
            run.arguments("tpch", &access()).unwrap().join(" "),
            "tpch run --clients 8 --queries 1,6,14 --schema my-orders --url postgres://bench@127.0.0.1:5432/bench \
             --password-file /secret/password"
        );
        let open = DatabaseAccess { password_file: None, ..access() };
        assert!(!run.arguments("tpch", &open).unwrap().join(" ").contains("password"));
    }

    #[test]
    fn what_names_a_file_an_address_or_another_option_is_refused() {
        for (part, other) in [
            ("--clients", "--url"),
            ("--clients", "--output"),
            ("--clients", "--password-file"),
            ("--clients", "--metrics-listen"),
            ("\"8\"", "\"--output\""),
            ("\"8\"", "\"/etc/passwd\""),
            ("\"8\"", "\"\""),
            ("\"8\"", "\"a b\""),
            ("\"8\"", "8"),
            ("\"hostAgentPort\"", "\"hostAgent\""),
            ("null", "70000"),
        ] {
            let broken = REQUEST.replace(part, other);
            assert_ne!(broken, REQUEST);
            assert!(serde_json::from_str::<DatabaseRun>(&broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_gateway_is_that_of_the_default_route() {
        let header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
        let local = "eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
        let default = "eth0\t00000000\t0202000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
        assert_eq!(gateway(&format!("{header}{local}")), None);
        if cfg!(target_endian = "little") {
            let found = gateway(&format!("{header}{local}{default}"));
            assert_eq!(found, Some(Ipv4Addr::new(10, 0, 2, 2)));
        }
    }
}
