//! The pod's interface, as the container network left it.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use crate::guest_network::{parse_hardware, GuestNetwork, Neighbour, Route};
use crate::interfaces::Control;
use crate::launch::names::NetworkNames;
use crate::machine;

/// linux/route.h: no route at all.
const RTF_REJECT: u32 = 0x200;
/// linux/if_arp.h: an entry that stays.
const ATF_PERM: u32 = 0x04;

/// The interface of the default route, and what the kernel knows of its network.
#[derive(Debug, PartialEq, Eq)]
pub struct PodInterface {
    pub name: String,
    /// Bytes.
    pub mtu: u16,
    pub hardware: String,
    routes: Vec<Route>,
    neighbours: Vec<Neighbour>,
}

impl PodInterface {
    pub fn of_this_pod(root: &Path) -> Result<Self, String> {
        let read = |path: &str| {
            let path = root.join(path);
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let found = machine::network_interface(root)
            .ok_or("this pod has no default route over IPv4: network Tap needs one")?;
        let name = found.name;
        let hardware = read(&format!("sys/class/net/{name}/address"))?.trim().to_string();
        if parse_hardware(&hardware).is_none() {
            return Err(format!("{name} has the hardware address {hardware:?}: network Tap needs Ethernet"));
        }
        Ok(Self {
            mtu: found.mtu.try_into().map_err(|_| format!("{name} has an MTU of {}", found.mtu))?,
            routes: routes(&read("proc/net/route")?, &name),
            neighbours: neighbours(&read("proc/net/arp")?, &name),
            name,
            hardware,
        })
    }

    /// What a guest in the pod's place is set to. Its routes say all about its neighbourhood, so that it has no
    /// network of its own prefix beside them.
    pub fn guest_network(&self, control: &Control, names: NetworkNames) -> Result<GuestNetwork, String> {
        Ok(GuestNetwork {
            address: control.address(&self.name)?,
            prefix: 32,
            routes: self.routes.clone(),
            neighbours: self.neighbours.clone(),
            dns: names.servers,
            search: names.search,
            hostname: names.hostname,
            mtu: Some(self.mtu),
        })
    }
}

/// Routes of the interface from /proc/net/route; those without a gateway first, by which the others' are reached.
fn routes(table: &str, interface: &str) -> Vec<Route> {
    // Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        // The bytes of an address, in the order in which they are in memory.
        let address = |index: usize| number(index).map(|word| Ipv4Addr::from(word.to_ne_bytes()));
        let wanted = fields.first() == Some(&interface) && number(3)? & RTF_REJECT == 0;
        let prefix = u32::from(address(7)?).leading_ones() as u8;
        wanted.then_some(Route { to: address(1)?, prefix, by: address(2)? })
    };
    let mut found: Vec<Route> = table.lines().skip(1).filter_map(parse).collect();
    found.sort_by_key(|route| !route.by.is_unspecified());
    found
}

/// Entries of /proc/net/arp that somebody made by hand, because nobody answers for them.
fn neighbours(table: &str, interface: &str) -> Vec<Neighbour> {
    // IP address, HW type, Flags, HW address, Mask, Device
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let flags = u32::from_str_radix(fields.get(2)?.trim_start_matches("0x"), 16).ok()?;
        let wanted = *fields.get(5)? == interface && flags & ATF_PERM != 0;
        let (address, hardware) = (fields[0].parse().ok()?, parse_hardware(fields[3])?);
        wanted.then_some(Neighbour { address, hardware })
    };
    table.lines().skip(1).filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100F40A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t0000F40A\t0100F40A\t0003\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth0\t0100F40A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0
*\t0000000A\t00000000\t0200\t0\t0\t0\t000000FF\t0\t0\t0
net1\t0000A8C0\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
";
    const ARP: &str = "\
IP address       HW type     Flags       HW address            Mask     Device
10.244.0.1       0x1         0x2         06:0d:c2:98:e1:74     *        eth0
169.254.1.1      0x1         0x6         ee:ee:ee:ee:ee:01     *        eth0
169.254.1.2      0x1         0x6         ee:ee:ee:ee:ee:02     *        net1
";

    #[test]
    fn the_routes_of_a_cable_to_the_node_are_taken_over_in_an_order_that_works() {
        let route = |to: [u8; 4], prefix, by: [u8; 4]| Route {
            to: Ipv4Addr::from(to),
            prefix,
            by: Ipv4Addr::from(by),
        };
        let gateway = [10, 244, 0, 1];
        assert_eq!(
            routes(ROUTES, "eth0"),
            [route(gateway, 32, [0; 4]), route([0; 4], 0, gateway), route([10, 244, 0, 0], 24, gateway),]
        );
    }

    #[test]
    fn neighbours_that_do_not_answer_are_taken_over() {
        let silent =
            Neighbour { address: [169, 254, 1, 1].into(), hardware: [0xee, 0xee, 0xee, 0xee, 0xee, 1] };
        assert_eq!(neighbours(ARP, "eth0"), [silent]);
    }

    fn pod(files: &[(&str, &str)]) -> Result<PodInterface, String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        PodInterface::of_this_pod(root.path())
    }

    #[test]
    fn a_pod_without_a_network_that_fits_is_told_so() {
        let mut files = vec![
            ("proc/net/route", ROUTES),
            ("proc/net/arp", ARP),
            ("sys/class/net/eth0/mtu", "1450\n"),
            ("sys/class/net/eth0/address", "06:0d:c2:98:e1:74\n"),
        ];
        let found = pod(&files).unwrap();
        assert_eq!((found.name.as_str(), found.mtu), ("eth0", 1450));
        assert_eq!(found.hardware, "06:0d:c2:98:e1:74");
        files[3].1 = "00:00:00:00\n";
        assert!(pod(&files).unwrap_err().contains("needs Ethernet"));
        files[0].1 = "Iface\n";
        assert!(pod(&files).unwrap_err().contains("no default route"));
    }
}
