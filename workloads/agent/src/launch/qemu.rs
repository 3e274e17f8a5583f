//! QEMU's command line. No I/O but what [`NetworkNames::of_this_container`] reads.

use std::path::Path;

use super::accelerator::Chosen;
use super::config::{Bus, Cache, Disk, Io, LauncherConfig, Machine, Topology};

pub const PROGRAM: &str = "qemu-system-x86_64";

/// Upper bound of the memory for translated code under emulation, in MiB: part of the launcher's own
/// memory, beside the guest's.
const TRANSLATED_CODE_MIB: u32 = 256;

/// The node's own CPU model, or, under emulation, everything that QEMU can emulate.
const HOST_PASSTHROUGH: &str = "host-passthrough";

/// Names that the guest learns over DHCP.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct NetworkNames {
    pub hostname: Option<String>,
    /// DNS search list.
    pub search: Vec<String>,
}

impl NetworkNames {
    /// The names of this container: the guest stands in its place.
    pub fn of_this_container() -> Self {
        let resolv = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let hostname = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
        Self { hostname, search: search_list(&resolv) }
    }
}

/// The last `search` line counts (resolv.conf(5)).
fn search_list(resolv: &str) -> Vec<String> {
    let mut lines = resolv.lines().filter_map(|line| line.trim().strip_prefix("search"));
    let last = lines.rfind(|rest| rest.starts_with(char::is_whitespace));
    last.unwrap_or_default().split_whitespace().map(|name| name.trim_end_matches('.').to_string()).collect()
}

/// Returns the arguments of QEMU for this machine.
pub fn arguments(
    config: &LauncherConfig,
    accelerator: Chosen,
    names: &NetworkNames,
    monitor: &Path,
) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut add = |option: &str, value: String| {
        arguments.push(option.to_string());
        if !value.is_empty() {
            arguments.push(value);
        }
    };
    add("-nodefaults", String::new());
    add("-no-user-config", String::new());
    add("-display", "none".into());
    // A guest that restarts itself has panicked (panic=-1): that is its end.
    add("-no-reboot", String::new());
    let machine = match config.machine {
        Machine::Q35 => "q35,usb=off,vmport=off,smm=off,graphics=off",
        // The ACPI power button and the real-time clock are not there by default.
        Machine::Microvm => "microvm,acpi=on,rtc=on,pic=on,pit=on,isa-serial=on",
    };
    let memory = config.hugepage_mib.map_or("", |_| ",memory-backend=memory");
    add("-machine", format!("{machine}{memory}"));
    let (accel, host) = match accelerator {
        Chosen::Kvm => ("kvm".to_string(), "host,migratable=off"),
        Chosen::Tcg => (format!("tcg,thread=multi,tb-size={TRANSLATED_CODE_MIB}"), "max"),
    };
    add("-accel", accel);
    let model = config.cpu_model.as_deref().filter(|model| *model != HOST_PASSTHROUGH);
    add("-cpu", model.unwrap_or(host).into());
    let Topology { sockets, cores, threads } =
        config.topology.unwrap_or(Topology { sockets: 1, cores: config.cpus, threads: 1 });
    add("-smp", format!("cpus={},sockets={sockets},cores={cores},threads={threads}", config.cpus));
    add("-m", format!("{}M", config.memory_mib));
    if let Some(page) = config.hugepage_mib {
        // All pages at the start: a guest that finds none later would be killed in the middle of a trial.
        add(
            "-object",
            format!(
                "memory-backend-memfd,id=memory,size={}M,hugetlb=on,hugetlbsize={page}M,prealloc=on",
                config.memory_mib
            ),
        );
    }
    add("-kernel", value(&config.kernel.to_string_lossy()));
    add("-initrd", value(&config.initrd.to_string_lossy()));
    add("-append", config.cmdline.clone());

    let bus = match config.machine {
        Machine::Q35 => "pci",
        Machine::Microvm => "device",
    };
    for disk in &config.disks {
        add("-blockdev", blockdev(disk));
        let serial = &disk.serial;
        let mut device = match disk.bus {
            Bus::Virtio => format!("virtio-blk-{bus},drive={serial},serial={serial}"),
            Bus::Scsi => {
                add("-device", format!("virtio-scsi-{bus},id=scsi-{serial}"));
                format!("scsi-hd,bus=scsi-{serial}.0,drive={serial},serial={serial}")
            }
        };
        if disk.cache == Cache::WriteThrough {
            device += ",write-cache=off";
        }
        if disk.dedicated_io_thread {
            add("-object", format!("iothread,id=io-{serial}"));
            device += &format!(",iothread=io-{serial}");
        }
        add("-device", device);
    }
    for iso in &config.isos {
        let (serial, file) = (&iso.serial, config.iso_file(&iso.serial));
        let file = value(&file.to_string_lossy());
        add(
            "-blockdev",
            format!("driver=raw,node-name={serial},read-only=on,file.driver=file,file.filename={file}"),
        );
        add("-device", format!("virtio-blk-{bus},drive={serial},serial={serial}"));
    }

    let mut network = "user,id=net0,ipv6=off".to_string();
    if let Some(hostname) = &names.hostname {
        network += &format!(",hostname={}", value(hostname));
    }
    for name in &names.search {
        network += &format!(",dnssearch={}", value(name));
    }
    for port in &config.network.user.forward {
        network += &format!(",hostfwd=tcp::{port}-:{port}");
    }
    add("-netdev", network);
    // No boot ROM: the kernel is given.
    let rom = if config.machine == Machine::Q35 { ",romfile=" } else { "" };
    add("-device", format!("virtio-net-{bus},netdev=net0{rom}"));
    add("-object", "rng-random,id=rng0,filename=/dev/urandom".into());
    add("-device", format!("virtio-rng-{bus},rng=rng0"));
    add("-chardev", "stdio,id=console,signal=off".into());
    add("-serial", "chardev:console".into());
    add("-qmp", format!("unix:{},server=on,wait=off", value(&monitor.to_string_lossy())));
    arguments
}

/// The host's side of a disk.
fn blockdev(disk: &Disk) -> String {
    let direct = if disk.cache == Cache::None { "on" } else { "off" };
    let aio = match disk.io {
        Io::Threads => "threads",
        Io::Native => "native",
    };
    let driver = if disk.device { "host_device" } else { "file" };
    let (serial, file) = (&disk.serial, value(&disk.file.to_string_lossy()));
    format!(
        "driver=raw,node-name={serial},discard=unmap,cache.direct={direct},file.driver={driver},\
         file.filename={file},file.aio={aio},file.locking=on,file.discard=unmap,file.cache.direct={direct}"
    )
}

/// A comma inside an option's value is written twice.
fn value(text: &str) -> String {
    text.replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::config::EXAMPLE;

    fn golden(machine: &str, accelerator: Chosen) -> String {
        command_line(&EXAMPLE.replace("q35", machine), accelerator)
    }

    fn command_line(text: &str, accelerator: Chosen) -> String {
        let config = LauncherConfig::parse(text).unwrap();
        let names = NetworkNames {
            hostname: Some("bench-vm-0".into()),
            search: vec!["bench.svc.cluster.local".into(), "cluster.local".into()],
        };
        let arguments = arguments(&config, accelerator, &names, Path::new("/run/dbbench/qmp.sock"));
        // An option and its value on one line.
        arguments.join("\n").replace("\n-", "\0-").replace('\n', " ").replace('\0', "\n") + "\n"
    }

    #[test]
    fn the_command_line_is_the_golden_one() {
        assert_eq!(golden("q35", Chosen::Tcg), include_str!("../../tests/golden/q35-tcg.txt"));
        assert_eq!(golden("microvm", Chosen::Kvm), include_str!("../../tests/golden/microvm-kvm.txt"));
    }

    #[test]
    fn every_option_reaches_the_command_line() {
        let disk = r#"img","sizeBytes":2147483648"#;
        let options = r#""cpus":2,"topology":{"sockets":1,"cores":1,"threads":2},"cpuModel":"Skylake-Server","hugepageMiB":2"#;
        let text = EXAMPLE.replace("\"cpus\":2", options);
        let direct = format!(r#"{disk},"cache":"None","io":"Native","dedicatedIoThread":true"#);
        let tuned = command_line(&text.replace(disk, &direct), Chosen::Kvm);
        assert_eq!(tuned, include_str!("../../tests/golden/q35-kvm-options.txt"));
        let through = text.replace(disk, &format!(r#"{disk},"cache":"WriteThrough""#));
        assert!(command_line(&through, Chosen::Kvm).contains("serial=data,write-cache=off\n"));
        let device = EXAMPLE.replace(r#""sizeBytes":2147483648"#, r#""device":true"#);
        assert!(command_line(&device, Chosen::Kvm)
            .contains("node-name=data,discard=unmap,cache.direct=off,file.driver=host_device,"));
        let scsi = command_line(&EXAMPLE.replace("disk.img\"}", "disk.img\",\"bus\":\"Scsi\"}"), Chosen::Kvm);
        let devices =
            "-device virtio-scsi-pci,id=scsi-root\n-device scsi-hd,bus=scsi-root.0,drive=root,serial=root\n";
        assert!(scsi.contains(devices), "{scsi}");
        let own = EXAMPLE.replace("\"cpus\":2", r#""cpus":2,"cpuModel":"host-passthrough""#);
        assert_eq!(command_line(&own, Chosen::Tcg), golden("q35", Chosen::Tcg));
    }

    #[test]
    fn commas_cannot_add_options() {
        let text = EXAMPLE.replace("/dbbench/root/disk.img", "/a,read-only=on");
        let config = LauncherConfig::parse(&text).unwrap();
        let arguments = arguments(&config, Chosen::Tcg, &NetworkNames::default(), Path::new("/q"));
        assert!(arguments.iter().any(|argument| argument.contains("file.filename=/a,,read-only=on")));
    }

    #[test]
    fn the_search_list_is_the_last_one() {
        let resolv = "nameserver 10.0.0.10\nsearch a.b\nsearch x.svc.cluster.local svc.cluster.local. local\noptions ndots:5\n";
        assert_eq!(search_list(resolv), ["x.svc.cluster.local", "svc.cluster.local", "local"]);
        assert!(search_list("nameserver 1.1.1.1\nsearching x\n").is_empty());
    }
}
