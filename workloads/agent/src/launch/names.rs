//! Names that a guest has from its container, in whose place it stands.

use std::net::Ipv4Addr;

/// What the container's hostname and /etc/resolv.conf say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct NetworkNames {
    pub hostname: Option<String>,
    /// DNS search list.
    pub search: Vec<String>,
    pub servers: Vec<Ipv4Addr>,
}

impl NetworkNames {
    pub fn of_this_container() -> Self {
        let resolv = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let hostname = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
        Self { hostname, search: search_list(&resolv), servers: servers(&resolv) }
    }
}

/// The last `search` line counts (resolv.conf(5)).
fn search_list(resolv: &str) -> Vec<String> {
    let mut lines = resolv.lines().filter_map(|line| line.trim().strip_prefix("search"));
    let last = lines.rfind(|rest| rest.starts_with(char::is_whitespace));
    last.unwrap_or_default().split_whitespace().map(|name| name.trim_end_matches('.').to_string()).collect()
}

/// Name servers over IPv4.
fn servers(resolv: &str) -> Vec<Ipv4Addr> {
    let words = resolv.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words
        .filter(|words| words.first() == Some(&"nameserver"))
        .filter_map(|words| words.get(1)?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESOLV: &str = "nameserver 10.0.0.10\nnameserver fd00::a\nsearch a.b\nsearch x.svc.cluster.local svc.cluster.local. local\noptions ndots:5\n";

    #[test]
    fn the_search_list_is_the_last_one() {
        assert_eq!(search_list(RESOLV), ["x.svc.cluster.local", "svc.cluster.local", "local"]);
        assert!(search_list("nameserver 1.1.1.1\nsearching x\n").is_empty());
    }

    #[test]
    fn name_servers_over_ipv4_are_found() {
        assert_eq!(servers(RESOLV), [Ipv4Addr::new(10, 0, 0, 10)]);
    }
}
