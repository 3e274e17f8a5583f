//! Facts of the database's container or guest: what must be equal, or known, for a comparison to count.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::config::AgentConfig;
use crate::counters::{self, Cgroup};
use crate::executable::{Executable, Hashes, Libraries};
use crate::machine::{self, CpuTopology, NetworkInterface, Numa};
use crate::scope::Scope;
use crate::unit_costs::{UnitCost, UnitCosts};
use crate::{hugepages, mounts, process_table, read_ahead};

/// The facts. Absent means that they cannot be found out here.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Kernel release.
    pub kernel: String,
    pub os_release: Option<String>,
    /// `None`, or the vendor that CPUID leaf 0x40000000 names. In a pod: what the node runs under.
    pub hypervisor: String,
    /// True under QEMU's TCG: these figures say nothing about virtualisation.
    pub emulated: bool,
    pub cpu_model: Option<String>,
    pub cpus_allowed: Vec<u32>,
    pub cpu_topology: Option<CpuTopology>,
    pub numa: Option<Numa>,
    /// What the kernel does about each vulnerability of the CPU.
    pub mitigations: BTreeMap<String, String>,
    pub governor: Option<String>,
    /// The cgroup's limit, or all memory where there is none.
    pub memory_bytes: Option<u64>,
    pub clock_source: Option<String>,
    pub transparent_hugepages: Option<String>,
    /// Bytes of huge pages that the database may use, by page size (`2Mi`); sizes without any are left out.
    pub huge_pages: BTreeMap<String, u64>,
    /// 1 or 2; 0 where no cgroup can be seen.
    pub cgroup_version: u32,
    pub data_mount: Option<DataMount>,
    pub server_executable: Option<Executable>,
    pub server_libraries: Option<Libraries>,
    pub network_interface: Option<NetworkInterface>,
    /// How the guest beside this agent is reached: `User`, `Tap` or `Tap with vhost-net`.
    pub guest_network: Option<String>,
    /// Of an agent beside QEMU: its version, `10.0.2 (Debian 1:10.0.2+ds-2)`.
    pub qemu_version: Option<String>,
    /// Soft limits of the server's processes; absent is unlimited.
    pub limits: BTreeMap<String, Option<u64>>,
    /// What single events cost; only where a database is run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unit_costs: Vec<UnitCost>,
}

/// The file system of the data directory.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DataMount {
    pub device: String,
    pub fstype: String,
    pub options: String,
    /// Absent where no device is below, as for a tmpfs.
    pub read_ahead_kb: Option<u64>,
}

/// Reads facts; keeps the hashes of the server's files and the unit costs, which are costly.
pub struct Reader {
    scope: Scope,
    config: AgentConfig,
    hashes: Hashes,
    unit_costs: UnitCosts,
}

impl Reader {
    pub fn new(scope: Scope, config: AgentConfig) -> Self {
        Self { scope, config, hashes: Hashes::default(), unit_costs: UnitCosts::default() }
    }

    pub fn read(&self) -> Facts {
        let root = Path::new("/");
        let cgroup = Cgroup::of_this_process(root);
        let total = meminfo_total(&read("/proc/meminfo"));
        let memory_bytes = match self.scope {
            Scope::Guest => total,
            Scope::Container => cgroup.memory_limit().or(total),
        };
        let server = self.config.server.as_ref().and_then(|server| {
            process_table::running(Path::new("/proc"), std::process::id(), &server.executables)
        });
        let limits = server.clone().unwrap_or_else(|| "/proc/self".into()).join("limits");
        let hypervisor = hypervisor();
        let cpus_allowed = counters::allowed_cpus(root);
        Facts {
            kernel: nix::sys::utsname::uname()
                .map(|names| names.release().to_string_lossy().into_owned())
                .unwrap_or_default(),
            os_release: os_name(&read("/etc/os-release")),
            emulated: hypervisor == "TCG",
            hypervisor,
            cpu_model: cpu_model(&read("/proc/cpuinfo")),
            cpu_topology: machine::topology(root, &cpus_allowed),
            numa: machine::numa(root, &cpus_allowed),
            mitigations: machine::mitigations(root),
            governor: machine::governor(root, &cpus_allowed),
            cpus_allowed,
            memory_bytes,
            clock_source: one_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            transparent_hugepages: selected(&read("/sys/kernel/mm/transparent_hugepage/enabled")),
            huge_pages: match self.scope {
                Scope::Guest => hugepages::of_this_kernel(root),
                Scope::Container => hugepages::of_cgroup(root, &cgroup),
            },
            cgroup_version: cgroup.version(),
            data_mount: self.config.data_directory.as_deref().and_then(data_mount),
            server_executable: server.as_ref().and_then(|process| self.hashes.executable(process)),
            server_libraries: server.as_ref().and_then(|process| self.hashes.libraries(process)),
            network_interface: machine::network_interface(root),
            guest_network: self.config.guest_network.clone(),
            qemu_version: self.config.qemu_version.clone(),
            limits: parse_limits(&std::fs::read_to_string(limits).unwrap_or_default()),
            // A hypervisor's agent has no command: what a guest's events cost is measured in the guest.
            unit_costs: if self.config.command.is_empty() { Vec::new() } else { self.unit_costs.read() },
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn hypervisor() -> String {
    use std::arch::x86_64::__cpuid;
    // Leaf 1, ECX bit 31: reserved on hardware, set by every hypervisor.
    if __cpuid(1).ecx & (1 << 31) == 0 {
        return "None".into();
    }
    let leaf = __cpuid(0x4000_0000);
    let mut vendor = Vec::new();
    for register in [leaf.ebx, leaf.ecx, leaf.edx] {
        vendor.extend_from_slice(&register.to_le_bytes());
    }
    vendor_name(&vendor)
}

#[cfg(not(target_arch = "x86_64"))]
fn hypervisor() -> String {
    "Unknown".into()
}

fn vendor_name(vendor: &[u8]) -> String {
    match vendor {
        b"KVMKVMKVM\0\0\0" => "KVM".into(),
        b"TCGTCGTCGTCG" => "TCG".into(),
        b"Microsoft Hv" => "HyperV".into(),
        b"VMwareVMware" => "VMware".into(),
        b"XenVMMXenVMM" => "Xen".into(),
        b"VBoxVBoxVBox" => "VirtualBox".into(),
        other => {
            let text = String::from_utf8_lossy(other);
            let text = text.trim_matches(|character: char| character == '\0' || character.is_whitespace());
            if text.is_empty() {
                "Unknown".into()
            } else {
                text.into()
            }
        }
    }
}

fn data_mount(directory: &Path) -> Option<DataMount> {
    let mounts = mounts::of_this_process().ok()?;
    let mount = mounts::holding(&mounts, directory)?;
    Some(DataMount {
        device: mount.device.clone(),
        fstype: mount.fstype.clone(),
        options: mount.options.clone(),
        read_ahead_kb: read_ahead::of_device(Path::new("/"), &mount.device_number),
    })
}

fn os_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_string())
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn meminfo_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The word in brackets: `always [madvise] never`.
pub fn selected(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_string())
}

/// The soft limits of /proc/PID/limits, under the names of setrlimit(2).
fn parse_limits(text: &str) -> BTreeMap<String, Option<u64>> {
    const NAMES: [(&str, &str); 6] = [
        ("Max open files", "nofile"),
        ("Max processes", "nproc"),
        ("Max locked memory", "memlock"),
        ("Max stack size", "stack"),
        ("Max core file size", "core"),
        ("Max address space", "as"),
    ];
    let mut limits = BTreeMap::new();
    for line in text.lines() {
        for (title, name) in NAMES {
            if let Some(values) = line.strip_prefix(title) {
                let soft = values.split_whitespace().next().unwrap_or_default();
                limits.insert(name.to_string(), soft.parse().ok());
            }
        }
    }
    limits
}

fn one_line(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executable::sha256;

    #[test]
    fn hypervisors_are_named() {
        assert_eq!(vendor_name(b"TCGTCGTCGTCG"), "TCG");
        assert_eq!(vendor_name(b"KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(vendor_name(b"bhyve bhyve "), "bhyve bhyve");
        assert_eq!(vendor_name(&[0; 12]), "Unknown");
    }

    #[test]
    fn limits_are_soft_and_may_be_absent() {
        let limits = parse_limits(
            "Limit                     Soft Limit           Hard Limit           Units\n\
             Max open files            1024                 524288               files\n\
             Max locked memory         unlimited            unlimited            bytes\n",
        );
        assert_eq!(limits["nofile"], Some(1024));
        assert_eq!(limits["memlock"], None);
    }

    #[test]
    fn words_are_found_in_system_files() {
        assert_eq!(selected("always [madvise] never"), Some("madvise".into()));
        assert_eq!(os_name("ID=debian\nPRETTY_NAME=\"Debian 12\"\n"), Some("Debian 12".into()));
        assert_eq!(cpu_model("processor : 0\nmodel name\t: A CPU @ 2 GHz\n"), Some("A CPU @ 2 GHz".into()));
        assert_eq!(meminfo_total("MemTotal:   10 kB\n"), Some(10240));
    }

    #[test]
    fn events_are_priced_where_a_database_is_run() {
        let beside_a_hypervisor = AgentConfig::default();
        let beside_a_database = AgentConfig { command: vec!["server".into()], ..AgentConfig::default() };
        assert!(Reader::new(Scope::Container, beside_a_hypervisor).read().unit_costs.is_empty());
        assert!(!Reader::new(Scope::Container, beside_a_database).read().unit_costs.is_empty());
    }

    #[test]
    fn the_running_server_is_described() {
        let own = std::env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_string_lossy().into_owned();
        let config = AgentConfig {
            server: Some(crate::config::Server { executables: vec![name] }),
            data_directory: Some("/proc".into()),
            ..AgentConfig::default()
        };
        let facts = Reader::new(Scope::Container, config).read();
        let expected = sha256(&mut std::fs::File::open(&own).unwrap()).unwrap();
        assert_eq!(facts.server_executable.unwrap().sha256, expected);
        let libraries = facts.server_libraries.unwrap();
        assert!(!libraries.files.iter().any(|file| file.path == own));
        assert!(libraries.sha256.is_some());
        let mount = facts.data_mount.unwrap();
        assert_eq!((mount.fstype.as_str(), mount.read_ahead_kb), ("proc", None));
        assert!(facts.memory_bytes.unwrap() > 0);
        assert_eq!(facts.cpu_topology.unwrap().threads, facts.cpus_allowed.len());
    }

    #[test]
    fn the_schema_describes_every_fact() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../schema/result.schema.json")).unwrap();
        let described = &schema["$defs"]["facts"]["properties"];
        let names =
            |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let own = std::env::current_exe().unwrap();
        let config = AgentConfig {
            command: vec!["server".into()],
            server: Some(crate::config::Server {
                executables: vec![own.file_name().unwrap().to_string_lossy().into_owned()],
            }),
            data_directory: Some("/".into()),
            ..AgentConfig::default()
        };
        let facts = serde_json::to_value(Reader::new(Scope::Container, config).read()).unwrap();
        assert_eq!(names(&facts), names(described));
        for name in ["dataMount", "serverExecutable", "serverLibraries", "cpuTopology"] {
            assert_eq!(names(&facts[name]), names(&described[name]["properties"]), "{name}");
        }
    }
}
