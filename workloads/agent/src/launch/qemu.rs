//! QEMU's command line. No I/O.

use std::os::fd::RawFd;
use std::path::Path;

use super::accelerator::Chosen;
use super::config::{Bus, Cache, Disk, Format, Io, LauncherConfig, Machine, Topology};
use super::names::NetworkNames;

pub const PROGRAM: &str = "qemu-system-x86_64";

/// The version in what `qemu-system-x86_64 --version` prints: `10.0.2 (Debian 1:10.0.2+ds-2)`.
pub fn version(printed: &str) -> Option<String> {
    let line = printed.lines().next()?;
    line.strip_prefix("QEMU emulator version ").map(|version| version.trim().to_string())
}

/// Upper bound of the memory for translated code under emulation, in MiB: part of the launcher's own
/// memory, beside the guest's.
const TRANSLATED_CODE_MIB: u32 = 256;

/// The node's own CPU model, or, under emulation, everything that QEMU can emulate.
const HOST_PASSTHROUGH: &str = "host-passthrough";

/// What is behind the guest's network card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// QEMU's own network, which passes these TCP ports of the container on and tells the names by DHCP.
    User { forward: Vec<u16>, names: NetworkNames },
    /// A tap device and vhost-net, as files that QEMU inherits; the card has this hardware address.
    Tap { tap: RawFd, vhost: Option<RawFd>, hardware: String },
}

impl Link {
    /// Its name in the facts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::User { .. } => "User",
            Self::Tap { vhost: None, .. } => "Tap",
            Self::Tap { vhost: Some(_), .. } => "Tap with vhost-net",
        }
    }

    /// The values of `-netdev` and, but for the device's name, `-device`.
    fn arguments(&self) -> (String, String) {
        match self {
            Self::User { forward, names } => {
                let mut network = "user,id=net0,ipv6=off".to_string();
                if let Some(hostname) = &names.hostname {
                    network += &format!(",hostname={}", value(hostname));
                }
                for name in &names.search {
                    network += &format!(",dnssearch={}", value(name));
                }
                for port in forward {
                    network += &format!(",hostfwd=tcp::{port}-:{port}");
                }
                (network, "netdev=net0".to_string())
            }
            Self::Tap { tap, vhost, hardware } => {
                let vhost = vhost.map_or(String::new(), |vhost| format!(",vhost=on,vhostfd={vhost}"));
                (format!("tap,id=net0,fd={tap}{vhost}"), format!("netdev=net0,mac={}", value(hardware)))
            }
        }
    }
}

/// Returns the arguments of QEMU for this machine.
pub fn arguments(config: &LauncherConfig, accelerator: Chosen, link: &Link, monitor: &Path) -> Vec<String> {
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
    for (option, file) in [("-kernel", &config.kernel), ("-initrd", &config.initrd)] {
        file.iter().for_each(|file| add(option, value(&file.to_string_lossy())));
    }
    config.cmdline.iter().for_each(|words| add("-append", words.clone()));

    let bus = match config.machine {
        Machine::Q35 => "pci",
        Machine::Microvm => "device",
    };
    for (index, disk) in config.disks.iter().enumerate() {
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
        if config.kernel.is_none() && index == 0 {
            device += ",bootindex=1";
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

    let (network, card) = link.arguments();
    add("-netdev", network);
    // No boot ROM: the kernel is given.
    let rom = if config.machine == Machine::Q35 { ",romfile=" } else { "" };
    add("-device", format!("virtio-net-{bus},{card}{rom}"));
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
    let format = match disk.format {
        Format::Raw => "raw",
        Format::Qcow2 => "qcow2",
    };
    let (serial, file) = (&disk.serial, value(&disk.file.to_string_lossy()));
    format!(
        "driver={format},node-name={serial},discard=unmap,cache.direct={direct},file.driver={driver},\
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
    use crate::launch::config::{own_kernel, EXAMPLE};

    fn golden(machine: &str, accelerator: Chosen) -> String {
        command_line(&EXAMPLE.replace("q35", machine), accelerator)
    }

    fn command_line(text: &str, accelerator: Chosen) -> String {
        let names = NetworkNames {
            hostname: Some("bench-vm-0".into()),
            search: vec!["bench.svc.cluster.local".into(), "cluster.local".into()],
            servers: Vec::new(),
        };
        command_line_with(text, accelerator, &Link::User { forward: vec![5432, 9590], names })
    }

    fn command_line_with(text: &str, accelerator: Chosen, link: &Link) -> String {
        let config = LauncherConfig::parse(text).unwrap();
        let arguments = arguments(&config, accelerator, link, Path::new("/run/dbbench/qmp.sock"));
        // An option and its value on one line.
        arguments.join("\n").replace("\n-", "\0-").replace('\n', " ").replace('\0', "\n") + "\n"
    }

    #[test]
    fn the_version_is_the_first_line_without_qemu_s_name() {
        let printed =
            "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright (c) 2003-2022\n";
        assert_eq!(version(printed).as_deref(), Some("7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)"));
        assert_eq!(version("something else\n"), None);
        assert_eq!(version(""), None);
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
    fn a_machine_without_a_kernel_boots_its_first_disk() {
        let mut config = LauncherConfig::parse(&own_kernel("\"machine\":\"q35\"")).unwrap();
        config.disks[0].format = Format::Qcow2;
        let link = Link::User { forward: Vec::new(), names: NetworkNames::default() };
        let arguments = arguments(&config, Chosen::Tcg, &link, Path::new("/q"));
        let has = |word: &str| arguments.iter().any(|argument| argument == word);
        assert!(has("virtio-blk-pci,drive=root,serial=root,bootindex=1"), "{arguments:?}");
        assert!(arguments.iter().any(|argument| argument.starts_with("driver=qcow2,node-name=root,")));
        assert!(has("virtio-blk-pci,drive=data,serial=data"));
        assert!(!["-kernel", "-initrd", "-append"].into_iter().any(has));
    }

    #[test]
    fn commas_cannot_add_options() {
        let text = EXAMPLE.replace("/dbbench/root/disk.img", "/a,read-only=on");
        let config = LauncherConfig::parse(&text).unwrap();
        let link = Link::User { forward: Vec::new(), names: NetworkNames::default() };
        let arguments = arguments(&config, Chosen::Tcg, &link, Path::new("/q"));
        assert!(arguments.iter().any(|argument| argument.contains("file.filename=/a,,read-only=on")));
    }

    #[test]
    fn a_tap_device_is_inherited_and_has_the_pods_hardware_address() {
        let tap = |vhost| Link::Tap { tap: 7, vhost, hardware: "06:0d:c2:98:e1:74".into() };
        let own = command_line_with(EXAMPLE, Chosen::Tcg, &tap(None));
        let card = "-device virtio-net-pci,netdev=net0,mac=06:0d:c2:98:e1:74,romfile=\n";
        assert!(own.contains(&format!("-netdev tap,id=net0,fd=7\n{card}")), "{own}");
        let kernels = command_line_with(EXAMPLE, Chosen::Kvm, &tap(Some(8)));
        assert!(
            kernels.contains(&format!("-netdev tap,id=net0,fd=7,vhost=on,vhostfd=8\n{card}")),
            "{kernels}"
        );
        assert_eq!([tap(None).name(), tap(Some(8)).name()], ["Tap", "Tap with vhost-net"]);
        let micro = command_line_with(&EXAMPLE.replace("q35", "microvm"), Chosen::Kvm, &tap(None));
        assert!(micro.contains("-device virtio-net-device,netdev=net0,mac=06:0d:c2:98:e1:74\n"), "{micro}");
    }
}
