//! launcher.json: the virtual machine to run.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The one version of launcher.json that this launcher reads.
const VERSION: u32 = 1;
/// The guest's kernel, its page tables and the agent need about this much before the database starts.
const LEAST_MEMORY_MIB: u64 = 128;

/// Serial of the disk with the image's files.
pub const ROOT_DISK: &str = "root";
/// Serial of the disk with the database's files.
pub const DATA_DISK: &str = "data";

/// A virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LauncherConfig {
    pub version: u32,
    /// Virtual CPUs.
    pub cpus: u32,
    /// How they appear; one socket with cores of one thread when absent.
    pub topology: Option<Topology>,
    /// `host-passthrough`, or a model that QEMU knows; the former when absent.
    pub cpu_model: Option<String>,
    #[serde(rename = "memoryMiB")]
    pub memory_mib: u64,
    /// Size of the node's huge pages that all memory of the guest is made of; ordinary pages when absent.
    #[serde(rename = "hugepageMiB")]
    pub hugepage_mib: Option<u64>,
    #[serde(default)]
    pub machine: Machine,
    #[serde(default)]
    pub accelerator: Accelerator,
    /// The first disk boots its own where this is absent.
    pub kernel: Option<PathBuf>,
    pub initrd: Option<PathBuf>,
    /// Kernel arguments.
    pub cmdline: Option<String>,
    pub disks: Vec<Disk>,
    #[serde(default)]
    pub isos: Vec<Iso>,
    pub network: Network,
    /// Address on which the counters of this container, which are QEMU's, are answered.
    pub listen: Option<SocketAddr>,
    /// Whether the data disk may be taken out of the page cache by request.
    #[serde(default)]
    pub cold_starts: bool,
    /// Directory for what lives only as long as the machine; holds secrets, so it should be memory.
    pub scratch: PathBuf,
    /// Seconds between the first press of the power button and the end of QEMU.
    #[serde(default = "default_grace")]
    pub powerdown_grace_seconds: u64,
}

/// Sockets, cores of a socket and threads of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    pub sockets: u32,
    pub cores: u32,
    pub threads: u32,
}

/// QEMU's machine type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Machine {
    #[default]
    Q35,
    Microvm,
}

impl Machine {
    /// QEMU's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q35 => "q35",
            Self::Microvm => "microvm",
        }
    }
}

/// How the guest's instructions are to be executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Accelerator {
    /// By hardware where this container can use it, else by emulation.
    #[default]
    Auto,
    #[serde(rename = "KVM")]
    Kvm,
    #[serde(rename = "TCG")]
    Tcg,
}

/// What a disk's file holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Raw,
    Qcow2,
}

/// A disk backed by a file or a block device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Disk {
    /// By which the guest finds the disk.
    pub serial: String,
    pub file: PathBuf,
    /// Size of a file that is made when there is none; without it a missing file is an error.
    pub size_bytes: Option<u64>,
    /// `file` is a block device, not a regular file.
    #[serde(default)]
    pub device: bool,
    /// `file` is raw or QCOW2, or a directory with nothing but that, as in an image that KubeVirt calls a container disk.
    #[serde(default)]
    pub container_disk: bool,
    /// Of a container disk it is found out; all others are raw, whatever a guest writes into them.
    #[serde(skip)]
    pub format: Format,
    #[serde(default)]
    pub bus: Bus,
    #[serde(default)]
    pub cache: Cache,
    #[serde(default)]
    pub io: Io,
    /// A thread for this disk alone, instead of QEMU's main thread.
    #[serde(default)]
    pub dedicated_io_thread: bool,
}

/// The device that the guest sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Bus {
    /// virtio-blk.
    #[default]
    Virtio,
    /// A disk of a virtio-scsi controller of its own.
    Scsi,
}

/// What the host does with the disk's data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Cache {
    /// The host's page cache, and the guest's flushes reach the disk.
    #[default]
    WriteBack,
    /// The host's page cache, and each write reaches the disk.
    WriteThrough,
    /// O_DIRECT: past the host's page cache.
    None,
}

/// How the host reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Io {
    /// By a pool of threads.
    #[default]
    Threads,
    /// By the kernel's asynchronous I/O, which works past the page cache alone.
    Native,
}

/// A read-only disk with the files of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iso {
    pub serial: String,
    pub directory: PathBuf,
    /// Name of its file system; the serial when absent.
    pub label: Option<String>,
}

/// How the guest reaches the network, and is reached.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Network {
    User(UserNetwork),
    /// A tap device that [`crate::tap`] has made: the guest takes the container's place.
    Tap {},
}

/// User mode network: needs no privilege.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserNetwork {
    /// TCP ports of the container that are passed on to the same ports of the guest.
    pub forward: Vec<u16>,
}

fn default_grace() -> u64 {
    60
}

impl LauncherConfig {
    /// Reads and checks launcher.json. The error names the file and the field.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let config: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if config.version != VERSION {
            return Err(format!("version {} is not supported, only {VERSION}", config.version));
        }
        if config.cpus == 0 {
            return Err("cpus is 0".into());
        }
        if config.memory_mib < LEAST_MEMORY_MIB {
            return Err(format!("memoryMiB {} is less than {LEAST_MEMORY_MIB}", config.memory_mib));
        }
        if let Some(Topology { sockets, cores, threads }) = config.topology {
            if u64::from(sockets) * u64::from(cores) * u64::from(threads) != u64::from(config.cpus) {
                return Err(format!("topology: {sockets} x {cores} x {threads} is not cpus {}", config.cpus));
            }
        }
        if let Some(model) = &config.cpu_model {
            let plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
            if model.is_empty() || !model.chars().all(plain) {
                return Err(format!("cpuModel {model:?} is not a name"));
            }
        }
        if let Some(page) = config.hugepage_mib {
            if page == 0 || !page.is_power_of_two() || !config.memory_mib.is_multiple_of(page) {
                return Err(format!("memoryMiB {} is not in pages of hugepageMiB {page}", config.memory_mib));
            }
        }
        let (kernel, initrd, cmdline) = (&config.kernel, &config.initrd, &config.cmdline);
        if [initrd.is_some(), cmdline.is_some()] != [kernel.is_some(); 2] {
            return Err("kernel, initrd and cmdline need each other".into());
        }
        if kernel.is_none() && (config.machine == Machine::Microvm || config.disks.is_empty()) {
            return Err("kernel is missing: only a q35 with a disk boots by itself".into());
        }
        if kernel.is_none() && config.network == (Network::Tap {}) {
            return Err("network tap needs kernel: another one does not read its settings from a disk".into());
        }
        for disk in &config.disks {
            if disk.container_disk && (disk.device || disk.size_bytes.is_some()) {
                return Err(format!(
                    "disk {:?}: containerDisk has neither device nor sizeBytes",
                    disk.serial
                ));
            }
            if disk.device && disk.size_bytes.is_some() {
                return Err(format!("disk {:?}: a device has its own size, not sizeBytes", disk.serial));
            }
            if disk.bus == Bus::Scsi && disk.dedicated_io_thread {
                return Err(format!("disk {:?}: dedicatedIoThread needs bus Virtio", disk.serial));
            }
            if disk.io == Io::Native && disk.cache != Cache::None {
                return Err(format!("disk {:?}: io Native needs cache None", disk.serial));
            }
        }
        let disks = config.disks.iter().map(|disk| &disk.serial);
        let mut serials: Vec<&String> = disks.chain(config.isos.iter().map(|iso| &iso.serial)).collect();
        serials.sort();
        for (index, serial) in serials.iter().enumerate() {
            let plain = |character: char| character.is_ascii_alphanumeric() || character == '-';
            // virtio-blk has room for 20 bytes.
            if serial.is_empty() || serial.len() > 20 || !serial.chars().all(plain) {
                return Err(format!("serial {serial:?} is not 1 to 20 letters, digits and hyphens"));
            }
            if serials.get(index + 1) == Some(serial) {
                return Err(format!("serial {serial:?} is used twice"));
            }
        }
        Ok(config)
    }

    /// Where the ISO image with this serial is made.
    pub fn iso_file(&self, serial: &str) -> PathBuf {
        self.scratch.join(format!("{serial}.iso"))
    }

    /// Port of the agent beside QEMU.
    pub fn listen_port(&self) -> Option<u16> {
        self.listen.map(|address| address.port())
    }

    /// What a cold start takes out of the node's page cache: the guest's own cache is its agent's affair.
    pub fn data_disks(&self) -> Vec<PathBuf> {
        let data = self.disks.iter().filter(|disk| disk.serial == DATA_DISK);
        data.map(|disk| disk.file.clone()).collect()
    }
}

#[cfg(test)]
pub(super) const EXAMPLE: &str = r#"{"version":1,"cpus":2,"memoryMiB":1024,"machine":"q35","accelerator":"Auto",
 "kernel":"/dbbench/kernel/vmlinuz","initrd":"/dbbench/kernel/initrd","cmdline":"console=ttyS0 quiet net.ifnames=0 panic=-1",
 "disks":[{"serial":"root","file":"/dbbench/root/disk.img"},{"serial":"data","file":"/dbbench/data/disk.img","sizeBytes":2147483648}],
 "isos":[{"serial":"config","directory":"/dbbench/config"},{"serial":"secret","directory":"/dbbench/secret"}],
 "network":{"user":{"forward":[5432,9590]}},"listen":"0.0.0.0:9591","scratch":"/run/dbbench","powerdownGraceSeconds":60}"#;

/// The example without a kernel, and another machine in its place.
#[cfg(test)]
pub(super) fn own_kernel(machine: &str) -> String {
    let (before, after) = EXAMPLE.split_once("\"kernel\"").unwrap();
    let (_, after) = after.split_once("\"disks\"").unwrap();
    format!("{before}\"disks\"{after}").replace("\"machine\":\"q35\"", machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_configuration_is_read() {
        let config = LauncherConfig::parse(EXAMPLE).unwrap();
        assert_eq!(config.disks[1].size_bytes, Some(2 << 30));
        assert_eq!(config.network, Network::User(UserNetwork { forward: vec![5432, 9590] }));
        assert_eq!(config.listen_port(), Some(9591));
        assert_eq!(config.iso_file("config"), Path::new("/run/dbbench/config.iso"));
    }

    #[test]
    fn a_tap_device_needs_no_options() {
        let tap = EXAMPLE.replace(r#"{"user":{"forward":[5432,9590]}}"#, r#"{"tap":{}}"#);
        assert_eq!(LauncherConfig::parse(&tap).unwrap().network, Network::Tap {});
    }

    #[test]
    fn what_cannot_work_is_named() {
        let with = |field: &str| EXAMPLE.replacen("\"cpus\":2", &format!("\"cpus\":2,{field}"), 1);
        for (broken, part) in [
            (with(r#""topology":{"sockets":2,"cores":2,"threads":1}"#), "2 x 2 x 1 is not cpus 2"),
            (with(r#""cpuModel":"max,+x""#), "cpuModel"),
            (with(r#""hugepageMiB":1000"#), "hugepageMiB 1000"),
            (EXAMPLE.replace("\"sizeBytes\"", "\"device\":true,\"sizeBytes\""), "not sizeBytes"),
            (
                EXAMPLE.replace("disk.img\"}", "disk.img\",\"bus\":\"Scsi\",\"dedicatedIoThread\":true}"),
                "needs bus Virtio",
            ),
            (EXAMPLE.replace("disk.img\"}", "disk.img\",\"io\":\"Native\"}"), "needs cache None"),
            (EXAMPLE.replace("\"initrd\":\"/dbbench/kernel/initrd\",", ""), "need each other"),
            (own_kernel("\"machine\":\"microvm\""), "boots by itself"),
            (
                own_kernel("\"machine\":\"q35\"")
                    .replace(r#"{"user":{"forward":[5432,9590]}}"#, r#"{"tap":{}}"#),
                "tap needs kernel",
            ),
            (EXAMPLE.replace("\"sizeBytes\"", "\"containerDisk\":true,\"sizeBytes\""), "neither device"),
            (EXAMPLE.replace("\"version\":1", "\"version\":7"), "version 7"),
            (EXAMPLE.replace("\"cpus\":2", "\"cpus\":0"), "cpus"),
            (EXAMPLE.replace("1024", "12"), "memoryMiB 12"),
            (EXAMPLE.replace("\"secret\",", "\"config\","), "\"config\" is used twice"),
            (EXAMPLE.replace("\"root\"", "\"a,b\""), "\"a,b\""),
            (EXAMPLE.replace("Auto", "Turbo"), "Turbo"),
            (EXAMPLE.replace("initrd\":", "initrds\":"), "initrds"),
            (EXAMPLE.replace("\"user\":", "\"bridge\":"), "bridge"),
            (EXAMPLE.replace("0.0.0.0:9591", "9591"), "socket address"),
        ] {
            let error = LauncherConfig::parse(&broken).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
