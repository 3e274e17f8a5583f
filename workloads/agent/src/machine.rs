//! What the kernel shows of the machine below the database, in /sys and /proc: a pod sees the node's, a guest its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::counters::parse_cpu_list;

const CPUS: &str = "sys/devices/system/cpu";

/// How the allowed CPUs lie in the machine.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CpuTopology {
    /// Sockets and cores that have an allowed CPU.
    pub sockets: usize,
    pub cores: usize,
    /// The allowed CPUs: hardware threads.
    pub threads: usize,
    /// The hardware threads of each of the cores, as the kernel writes a list: `0,4`.
    pub siblings: Vec<String>,
    /// Hardware threads of these cores that are not allowed: whatever runs there shares a core.
    pub foreign_siblings: usize,
}

/// NUMA nodes.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Numa {
    /// Those of the allowed CPUs.
    pub cpu_nodes: Vec<u32>,
    /// Those that memory may be taken from.
    pub memory_nodes: Vec<u32>,
}

/// The network interface that the default route leaves by.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct NetworkInterface {
    pub name: String,
    /// Bytes.
    pub mtu: u32,
}

/// None where the kernel does not tell of one of the CPUs.
pub fn topology(root: &Path, allowed: &[u32]) -> Option<CpuTopology> {
    let mut sockets = BTreeSet::new();
    let mut siblings = BTreeMap::new();
    for cpu in allowed {
        let directory = root.join(CPUS).join(format!("cpu{cpu}/topology"));
        sockets.insert(text(&directory.join("physical_package_id"))?);
        let list = text(&directory.join("thread_siblings_list"))?;
        siblings.insert(parse_cpu_list(&list), list);
    }
    let foreign = siblings.keys().flatten().filter(|cpu| !allowed.contains(cpu)).count();
    (!allowed.is_empty()).then(|| CpuTopology {
        sockets: sockets.len(),
        cores: siblings.len(),
        threads: allowed.len(),
        foreign_siblings: foreign,
        siblings: siblings.into_values().collect(),
    })
}

/// None on a kernel without NUMA.
pub fn numa(root: &Path, allowed: &[u32]) -> Option<Numa> {
    let nodes = std::fs::read_dir(root.join("sys/devices/system/node")).ok()?;
    let mut cpu_nodes: Vec<u32> = nodes
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            let cpus = parse_cpu_list(&text(&entry.path().join("cpulist"))?);
            cpus.iter().any(|cpu| allowed.contains(cpu)).then_some(number)
        })
        .collect();
    cpu_nodes.sort_unstable();
    let status = text(&root.join("proc/self/status")).unwrap_or_default();
    let memory = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    let memory_nodes = parse_cpu_list(memory.unwrap_or_default().trim());
    Some(Numa { cpu_nodes, memory_nodes })
}

/// What the kernel does about each vulnerability of the CPU that it knows, in its own words.
pub fn mitigations(root: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root.join(CPUS).join("vulnerabilities")).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, text(&entry.path())?))).collect()
}

/// What sets the frequency of the allowed CPUs; several where they differ. None where nothing does, as in most guests.
pub fn governor(root: &Path, allowed: &[u32]) -> Option<String> {
    let found: BTreeSet<String> = allowed
        .iter()
        .filter_map(|cpu| text(&root.join(CPUS).join(format!("cpu{cpu}/cpufreq/scaling_governor"))))
        .collect();
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(","))
}

/// None without a default route over IPv4.
pub fn network_interface(root: &Path) -> Option<NetworkInterface> {
    let routes = text(&root.join("proc/net/route"))?;
    // Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
    let name = routes.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let of_all = *fields.get(1)? == "00000000" && *fields.get(7)? == "00000000";
        of_all.then(|| fields[0].to_string())
    })?;
    let mtu = text(&root.join("sys/class/net").join(&name).join("mtu"))?.parse().ok()?;
    Some(NetworkInterface { name, mtu })
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    /// Two sockets of two cores with two threads each; CPU 4 is the other thread of CPU 0.
    fn two_sockets() -> tempfile::TempDir {
        let root = machine(&[
            ("sys/devices/system/node/node0/cpulist", "0-1,4-5\n"),
            ("sys/devices/system/node/node1/cpulist", "2-3,6-7\n"),
            ("sys/devices/system/node/online", "0-1\n"),
            ("proc/self/status", "Cpus_allowed_list:\t0\nMems_allowed_list:\t0-1\n"),
        ]);
        for cpu in 0..8 {
            let directory = root.path().join(CPUS).join(format!("cpu{cpu}"));
            std::fs::create_dir_all(directory.join("topology")).unwrap();
            std::fs::create_dir_all(directory.join("cpufreq")).unwrap();
            let (socket, core) = (cpu % 4 / 2, cpu % 4);
            let siblings = format!("{core},{}\n", core + 4);
            std::fs::write(directory.join("topology/physical_package_id"), format!("{socket}\n")).unwrap();
            std::fs::write(directory.join("topology/thread_siblings_list"), siblings).unwrap();
            let governor = if cpu == 7 { "powersave\n" } else { "performance\n" };
            std::fs::write(directory.join("cpufreq/scaling_governor"), governor).unwrap();
        }
        root
    }

    #[test]
    fn whole_cores_and_halves_of_cores_are_told_apart() {
        let root = two_sockets();
        let expected = |sockets, cores, siblings: &[&str], foreign_siblings| CpuTopology {
            sockets,
            cores,
            threads: 2,
            siblings: siblings.iter().map(|list| list.to_string()).collect(),
            foreign_siblings,
        };
        assert_eq!(topology(root.path(), &[0, 4]), Some(expected(1, 1, &["0,4"], 0)));
        assert_eq!(topology(root.path(), &[0, 1]), Some(expected(1, 2, &["0,4", "1,5"], 2)));
        assert_eq!(topology(root.path(), &[0, 3]), Some(expected(2, 2, &["0,4", "3,7"], 2)));
        assert_eq!(topology(root.path(), &[0, 99]), None);
        assert_eq!(topology(root.path(), &[]), None);
    }

    #[test]
    fn numa_nodes_are_those_of_the_allowed_cpus_and_memory() {
        let root = two_sockets();
        let nodes = |allowed: &[u32]| numa(root.path(), allowed).unwrap();
        assert_eq!(nodes(&[0, 4]), Numa { cpu_nodes: vec![0], memory_nodes: vec![0, 1] });
        assert_eq!(nodes(&[1, 2]).cpu_nodes, [0, 1]);
        assert_eq!(numa(machine(&[]).path(), &[0]), None);
    }

    #[test]
    fn governors_are_those_of_the_allowed_cpus() {
        let root = two_sockets();
        assert_eq!(governor(root.path(), &[0, 1]).as_deref(), Some("performance"));
        assert_eq!(governor(root.path(), &[0, 7]).as_deref(), Some("performance,powersave"));
        assert_eq!(governor(machine(&[]).path(), &[0]), None);
    }

    #[test]
    fn mitigations_are_in_the_kernel_s_words() {
        let directory = format!("{CPUS}/vulnerabilities");
        let root = machine(&[
            (&format!("{directory}/meltdown"), "Mitigation: PTI\n"),
            (&format!("{directory}/mds"), "Not affected\n"),
        ]);
        let found = mitigations(root.path());
        assert_eq!(found["meltdown"], "Mitigation: PTI");
        assert_eq!(found.len(), 2);
        assert!(mitigations(machine(&[]).path()).is_empty());
    }

    #[test]
    fn the_interface_is_that_of_the_default_route() {
        let routes = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
            eth1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n\
            eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
        let root = machine(&[("proc/net/route", routes), ("sys/class/net/eth0/mtu", "1450\n")]);
        let expected = NetworkInterface { name: "eth0".into(), mtu: 1450 };
        assert_eq!(network_interface(root.path()), Some(expected));
        assert_eq!(network_interface(machine(&[("proc/net/route", "Iface\n")]).path()), None);
    }
}
