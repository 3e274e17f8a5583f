//! Address, routes and names of a guest, whoever hands them out: a DHCP server, or the launcher.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// What a guest's network card is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GuestNetwork {
    pub address: Ipv4Addr,
    pub prefix: u8,
    /// In the order in which they are to be added.
    pub routes: Vec<Route>,
    /// Neighbours that answer no question for their hardware address.
    pub neighbours: Vec<Neighbour>,
    pub dns: Vec<Ipv4Addr>,
    pub search: Vec<String>,
    pub hostname: Option<String>,
    /// Bytes.
    pub mtu: Option<u16>,
}

/// A route; the default one is to 0.0.0.0/0, one without a gateway is by 0.0.0.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    pub to: Ipv4Addr,
    pub prefix: u8,
    pub by: Ipv4Addr,
}

/// The hardware address of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    pub address: Ipv4Addr,
    pub hardware: [u8; 6],
}

impl GuestNetwork {
    /// Text of /etc/resolv.conf.
    pub fn resolv_conf(&self) -> String {
        let mut text: String = self.dns.iter().map(|server| format!("nameserver {server}\n")).collect();
        if !self.search.is_empty() {
            text += &format!("search {}\n", self.search.join(" "));
            // What a pod gets: short names are tried in the search list first.
            text += "options ndots:5\n";
        }
        text
    }
}

/// Reads a hardware address as /sys/class/net and /proc/net/arp write it.
pub fn parse_hardware(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> =
        text.trim().split(':').map(|part| u8::from_str_radix(part, 16).ok()).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_addresses_are_read() {
        assert_eq!(parse_hardware("52:54:00:12:34:5f\n"), Some([0x52, 0x54, 0, 0x12, 0x34, 0x5f]));
        assert_eq!(parse_hardware("00:00"), None);
    }
}
