//! Counters of this container's cgroup, version 1 or 2.

use std::path::{Path, PathBuf};

use super::{keyed, parse_pressure, ticks_to_seconds, Cpu, Io, Memory, Pressure};
use crate::mounts::{self, Mount};

/// What cgroup v1 reports for "no limit" is the largest multiple of the page size.
const V1_NO_LIMIT: u64 = 1 << 62;

/// The cgroup of this process. The controllers of version 1 may be in different hierarchies.
#[derive(Debug, PartialEq, Eq)]
pub enum Cgroup {
    V1 {
        cpu: Option<PathBuf>,
        cpuacct: Option<PathBuf>,
        memory: Option<PathBuf>,
        blkio: Option<PathBuf>,
        hugetlb: Option<PathBuf>,
    },
    V2 {
        directory: PathBuf,
    },
    /// No cgroup file system is mounted here.
    Unknown,
}

impl Cgroup {
    /// Finds the cgroup of the calling process; `root` is / outside tests.
    pub fn of_this_process(root: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        Self::find(root, &mounts::parse(&read("proc/self/mountinfo")), &read("proc/self/cgroup"))
    }

    /// A controller of version 1 wins over a mounted version 2: on hybrid systems the latter has none.
    fn find(root: &Path, mounts: &[Mount], membership: &str) -> Self {
        let v1 = |controller: &str| {
            let mount = mounts.iter().find(|mount| {
                mount.fstype == "cgroup" && mount.super_options.split(',').any(|option| option == controller)
            })?;
            Some(directory(root, mount, path_in(membership, controller)?))
        };
        let (cpu, cpuacct, memory, blkio) = (v1("cpu"), v1("cpuacct"), v1("memory"), v1("blkio"));
        if cpuacct.is_some() || memory.is_some() {
            return Self::V1 { cpu, cpuacct, memory, blkio, hugetlb: v1("hugetlb") };
        }
        let v2 = mounts.iter().find(|mount| mount.fstype == "cgroup2");
        match v2.zip(path_in(membership, "")) {
            Some((mount, path)) => Self::V2 { directory: directory(root, mount, path) },
            None => Self::Unknown,
        }
    }

    /// 1 or 2; 0 where no cgroup can be seen.
    pub fn version(&self) -> u32 {
        match self {
            Self::V1 { .. } => 1,
            Self::V2 { .. } => 2,
            Self::Unknown => 0,
        }
    }

    /// Bytes of memory that the cgroup may use; None without a limit.
    pub fn memory_limit(&self) -> Option<u64> {
        match self {
            Self::V1 { memory, .. } => keyed(&read(memory, "memory.stat"), "hierarchical_memory_limit")
                .filter(|limit| *limit < V1_NO_LIMIT),
            Self::V2 { directory } => number(&std::fs::read_to_string(directory.join("memory.max")).ok()?),
            Self::Unknown => None,
        }
    }

    /// Bytes of huge pages of one size (`2MB`, as the kernel writes it) that the cgroup may use; None without
    /// a limit.
    pub fn hugepage_limit(&self, size: &str) -> Option<u64> {
        match self {
            Self::V1 { hugetlb, .. } => number(&read(hugetlb, &format!("hugetlb.{size}.limit_in_bytes")))
                .filter(|limit| *limit < V1_NO_LIMIT),
            Self::V2 { directory } => {
                number(&std::fs::read_to_string(directory.join(format!("hugetlb.{size}.max"))).ok()?)
            }
            Self::Unknown => None,
        }
    }

    pub fn cpu(&self) -> Cpu {
        match self {
            Self::V1 { cpu, cpuacct, .. } => {
                let times = read(cpuacct, "cpuacct.stat");
                let throttling = read(cpu, "cpu.stat");
                Cpu {
                    user_seconds: keyed(&times, "user").map(ticks_to_seconds),
                    system_seconds: keyed(&times, "system").map(ticks_to_seconds),
                    steal_seconds: None,
                    throttled_seconds: keyed(&throttling, "throttled_time").map(|nanos| nanos as f64 / 1e9),
                    throttled_periods: keyed(&throttling, "nr_throttled"),
                }
            }
            Self::V2 { directory } => {
                let stat = std::fs::read_to_string(directory.join("cpu.stat")).unwrap_or_default();
                let seconds = |key: &str| keyed(&stat, key).map(|micros| micros as f64 / 1e6);
                Cpu {
                    user_seconds: seconds("user_usec"),
                    system_seconds: seconds("system_usec"),
                    steal_seconds: None,
                    throttled_seconds: seconds("throttled_usec"),
                    throttled_periods: keyed(&stat, "nr_throttled"),
                }
            }
            Self::Unknown => Cpu::default(),
        }
    }

    pub fn io(&self) -> Io {
        match self {
            Self::V1 { blkio, .. } => {
                // `254:0 Read 4096`, for each device and kind, and a `Total` line.
                let text = read(blkio, "blkio.throttle.io_service_bytes_recursive");
                let sum = |kind: &str| {
                    blkio.as_ref()?;
                    let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
                    Some(
                        words
                            .filter(|words| words.len() == 3 && words[1] == kind)
                            .filter_map(|words| words[2].parse::<u64>().ok())
                            .sum(),
                    )
                };
                Io { read_bytes: sum("Read"), write_bytes: sum("Write") }
            }
            Self::V2 { directory } => {
                // `254:0 rbytes=1 wbytes=2 rios=...`; the file is empty before the first transfer.
                let Ok(text) = std::fs::read_to_string(directory.join("io.stat")) else {
                    return Io::default();
                };
                let sum = |key: &str| {
                    let words = text.split_whitespace();
                    Some(words.filter_map(|word| word.strip_prefix(key)?.parse::<u64>().ok()).sum())
                };
                Io { read_bytes: sum("rbytes="), write_bytes: sum("wbytes=") }
            }
            Self::Unknown => Io::default(),
        }
    }

    pub fn memory(&self) -> Memory {
        match self {
            Self::V1 { memory, .. } => Memory {
                used_bytes: number(&read(memory, "memory.usage_in_bytes")),
                file_bytes: keyed(&read(memory, "memory.stat"), "total_cache"),
            },
            Self::V2 { directory } => {
                let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
                Memory {
                    used_bytes: number(&read("memory.current")),
                    file_bytes: keyed(&read("memory.stat"), "file"),
                }
            }
            Self::Unknown => Memory::default(),
        }
    }

    /// Only version 2 tells the pressure of a cgroup.
    pub fn pressure(&self) -> Option<Pressure> {
        let Self::V2 { directory } = self else { return None };
        let stall = |name: &str| {
            parse_pressure(&std::fs::read_to_string(directory.join(format!("{name}.pressure"))).ok()?)
        };
        let pressure = Pressure { cpu: stall("cpu"), memory: stall("memory"), io: stall("io") };
        (pressure != Pressure::default()).then_some(pressure)
    }
}

/// The path of a controller's cgroup (`7:cpu,cpuacct:/a/b`); version 2 has no controller names (`0::/a/b`).
fn path_in<'a>(membership: &'a str, controller: &str) -> Option<&'a str> {
    membership.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let found = if controller.is_empty() {
            controllers.is_empty()
        } else {
            controllers.split(',').any(|name| name == controller)
        };
        found.then_some(path)
    })
}

/// The cgroup's directory. Without a cgroup namespace a container's mount shows only its own part of the
/// hierarchy, while /proc/self/cgroup still gives the path from the top: the mount's root says how much of
/// that path is already in the mount.
fn directory(root: &Path, mount: &Mount, path: &str) -> PathBuf {
    let inside = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let point = mount.point.strip_prefix("/").unwrap_or(&mount.point);
    root.join(point).join(inside)
}

fn read(directory: &Option<PathBuf>, name: &str) -> String {
    let read = |directory: &PathBuf| std::fs::read_to_string(directory.join(name)).ok();
    directory.as_ref().and_then(read).unwrap_or_default()
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A pod on a hybrid node, without a cgroup namespace.
    fn v1() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(
            root,
            "proc/self/cgroup",
            "5:hugetlb:/kubepods/pod1/c1\n4:memory:/kubepods/pod1/c1\n3:cpuset:/kubepods/pod1/c1\n2:cpu,cpuacct:/kubepods/pod1/c1\n1:blkio:/kubepods/pod1/c1\n0::/\n",
        );
        write(
            root,
            "proc/self/mountinfo",
            "1 0 0:1 / / rw - overlay overlay rw\n\
             2 1 0:2 /kubepods/pod1/c1 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
             3 1 0:3 /kubepods/pod1/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
             4 1 0:4 /kubepods/pod1/c1 /sys/fs/cgroup/blkio ro - cgroup cgroup rw,blkio\n\
             6 1 0:6 /kubepods/pod1/c1 /sys/fs/cgroup/hugetlb ro - cgroup cgroup rw,hugetlb\n\
             5 1 0:5 / /sys/fs/cgroup/unified ro - cgroup2 cgroup rw\n",
        );
        write(root, "sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes", "16777216\n");
        write(root, "sys/fs/cgroup/hugetlb/hugetlb.1GB.limit_in_bytes", "9223372036854771712\n");
        write(root, "sys/fs/cgroup/cpu,cpuacct/cpuacct.stat", "user 250\nsystem 50\n");
        write(
            root,
            "sys/fs/cgroup/cpu,cpuacct/cpu.stat",
            "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n",
        );
        write(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
        write(
            root,
            "sys/fs/cgroup/memory/memory.stat",
            "cache 1\nhierarchical_memory_limit 8192\ntotal_cache 3000\n",
        );
        write(
            root,
            "sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes_recursive",
            "254:0 Read 4096\n254:0 Write 100\n254:16 Read 4\n254:16 Write 1\n254:0 Total 4196\nTotal 4201\n",
        );
        directory
    }

    /// A pod with its own cgroup namespace.
    fn v2() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(root, "proc/self/cgroup", "0::/\n");
        write(
            root,
            "proc/self/mountinfo",
            "1 0 0:1 / / rw - overlay overlay rw\n2 1 0:2 / /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n",
        );
        write(
            root,
            "sys/fs/cgroup/cpu.stat",
            "usage_usec 9\nuser_usec 2500000\nsystem_usec 500000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n",
        );
        write(root, "sys/fs/cgroup/hugetlb.2MB.max", "16777216\n");
        write(root, "sys/fs/cgroup/hugetlb.1GB.max", "max\n");
        write(root, "sys/fs/cgroup/memory.current", "5000\n");
        write(root, "sys/fs/cgroup/memory.max", "8192\n");
        write(root, "sys/fs/cgroup/memory.stat", "anon 7\nfile 3000\nfile_mapped 1\n");
        write(
            root,
            "sys/fs/cgroup/io.stat",
            "254:0 rbytes=4096 wbytes=100 rios=1 wios=1 dbytes=0\n254:16 rbytes=4 wbytes=1\n",
        );
        write(root, "sys/fs/cgroup/cpu.pressure", "some avg10=0 total=1000000\nfull avg10=0 total=0\n");
        directory
    }

    #[test]
    fn both_versions_read_alike() {
        for (version, fixture) in [(1, v1()), (2, v2())] {
            let cgroup = Cgroup::of_this_process(fixture.path());
            assert_eq!(cgroup.version(), version);
            let cpu = cgroup.cpu();
            assert_eq!((cpu.user_seconds, cpu.system_seconds), (Some(2.5), Some(0.5)), "version {version}");
            assert_eq!((cpu.throttled_seconds, cpu.throttled_periods), (Some(1.5), Some(4)));
            assert_eq!(cgroup.io(), Io { read_bytes: Some(4100), write_bytes: Some(101) });
            assert_eq!(cgroup.memory(), Memory { used_bytes: Some(5000), file_bytes: Some(3000) });
            assert_eq!(cgroup.memory_limit(), Some(8192));
            assert_eq!((cgroup.hugepage_limit("2MB"), cgroup.hugepage_limit("1GB")), (Some(16 << 20), None));
            assert_eq!(cgroup.pressure().is_some(), version == 2);
        }
    }

    #[test]
    fn no_limit_is_none() {
        let (one, two) = (v1(), v2());
        write(
            one.path(),
            "sys/fs/cgroup/memory/memory.stat",
            "hierarchical_memory_limit 9223372036854771712\n",
        );
        write(two.path(), "sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(Cgroup::of_this_process(one.path()).memory_limit(), None);
        assert_eq!(Cgroup::of_this_process(two.path()).memory_limit(), None);
    }

    #[test]
    fn the_whole_hierarchy_may_be_mounted() {
        let fixture = v1();
        let text = std::fs::read_to_string(fixture.path().join("proc/self/mountinfo")).unwrap();
        write(fixture.path(), "proc/self/mountinfo", &text.replace("/kubepods/pod1/c1 /sys", "/ /sys"));
        let Cgroup::V1 { memory, .. } = Cgroup::of_this_process(fixture.path()) else { panic!("version 1") };
        assert_eq!(memory.unwrap(), fixture.path().join("sys/fs/cgroup/memory/kubepods/pod1/c1"));
    }

    #[test]
    fn without_cgroups_nothing_is_claimed() {
        let empty = tempfile::tempdir().unwrap();
        let cgroup = Cgroup::of_this_process(empty.path());
        assert_eq!((cgroup.version(), cgroup.cpu(), cgroup.io()), (0, Cpu::default(), Io::default()));
    }
}
