//! Counters of a whole machine, from /proc. Right in a guest; in a pod they would be the node's.

use std::path::Path;

use super::{keyed, parse_pressure, ticks_to_seconds, Cpu, Io, Memory, Pressure};

/// /proc/diskstats counts sectors of this size, whatever the device's.
const SECTOR: u64 = 512;

/// CPU time from the first line of /proc/stat.
pub fn cpu(root: &Path) -> Cpu {
    let stat = read(root, "proc/stat");
    let Some(times) = cpu_line(&stat, "cpu") else { return Cpu::default() };
    let seconds = |fields: &[usize]| {
        Some(ticks_to_seconds(fields.iter().map(|field| times.get(*field).copied().unwrap_or(0)).sum()))
    };
    Cpu {
        // user and nice, which include guest time; system, irq and softirq.
        user_seconds: seconds(&[0, 1]),
        system_seconds: seconds(&[2, 5, 6]),
        steal_seconds: seconds(&[7]),
        // No CFS quota limits a whole machine.
        throttled_seconds: Some(0.0),
        throttled_periods: Some(0),
    }
}

/// Steal time of just these CPUs.
pub fn steal_on(root: &Path, cpus: &[u32]) -> Option<f64> {
    let stat = read(root, "proc/stat");
    let ticks: Option<u64> =
        cpus.iter().map(|cpu| cpu_line(&stat, &format!("cpu{cpu}"))?.get(7).copied()).sum();
    ticks.filter(|_| !cpus.is_empty()).map(ticks_to_seconds)
}

/// Bytes of all whole disks (not their partitions, and no loop or RAM devices).
pub fn io(root: &Path) -> Io {
    let mut total = Io { read_bytes: Some(0), write_bytes: Some(0) };
    for line in read(root, "proc/diskstats").lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let Some(name) = fields.get(2) else { continue };
        let device = root.join("sys/block").join(name);
        if ["loop", "ram", "zram", "sr", "dm-"].iter().any(|kind| name.starts_with(kind)) || !device.exists()
        {
            continue;
        }
        let bytes = |field: usize| fields.get(field)?.parse::<u64>().ok().map(|sectors| sectors * SECTOR);
        total.read_bytes = total.read_bytes.zip(bytes(5)).map(|(sum, more)| sum + more);
        total.write_bytes = total.write_bytes.zip(bytes(9)).map(|(sum, more)| sum + more);
    }
    total
}

/// Memory from /proc/meminfo, counted as a cgroup counts it: page cache is used memory.
pub fn memory(root: &Path) -> Memory {
    let meminfo = read(root, "proc/meminfo");
    let bytes = |key: &str| keyed(&meminfo, key).map(|kib| kib * 1024);
    Memory {
        used_bytes: bytes("MemTotal").zip(bytes("MemFree")).map(|(total, free)| total.saturating_sub(free)),
        file_bytes: bytes("Cached").zip(bytes("Buffers")).map(|(cached, buffers)| cached + buffers),
    }
}

/// Pressure of the whole machine; None where the kernel has no PSI.
pub fn pressure(root: &Path) -> Option<Pressure> {
    let stall = |name: &str| parse_pressure(&read(root, &format!("proc/pressure/{name}")));
    let pressure = Pressure { cpu: stall("cpu"), memory: stall("memory"), io: stall("io") };
    (pressure != Pressure::default()).then_some(pressure)
}

fn cpu_line(stat: &str, name: &str) -> Option<Vec<u64>> {
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    Some(line.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect())
}

fn read(root: &Path, path: &str) -> String {
    std::fs::read_to_string(root.join(path)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "proc/stat",
            "cpu  100 10 50 9 9 3 2 40 0 0\ncpu0 50 5 25 4 4 1 1 30 0 0\ncpu1 50 5 25 5 5 2 1 10 0 0\nctxt 1\n",
        );
        write(
            "proc/diskstats",
            " 254 0 vda 1 0 8 0 1 0 16 0 0 0 0\n 254 1 vda1 1 0 8 0 1 0 16 0 0 0 0\n 7 0 loop0 1 0 99 0 1 0 99 0 0 0 0\n 254 16 vdb 1 0 2 0 1 0 4 0 0 0 0\n",
        );
        write(
            "proc/meminfo",
            "MemTotal: 1000 kB\nMemFree: 300 kB\nBuffers: 20 kB\nCached: 200 kB\nSwapCached: 5 kB\n",
        );
        write("proc/pressure/io", "some total=3000000\nfull total=1000000\n");
        for name in ["vda", "vdb", "loop0"] {
            write(&format!("sys/block/{name}/size"), "1");
        }
        root
    }

    #[test]
    fn time_is_split_into_user_system_and_steal() {
        let root = machine();
        let cpu = cpu(root.path());
        assert_eq!((cpu.user_seconds, cpu.system_seconds), (Some(1.1), Some(0.55)));
        assert_eq!(cpu.steal_seconds, Some(0.4));
    }

    #[test]
    fn steal_counts_only_on_the_allowed_cpus() {
        let root = machine();
        assert_eq!(steal_on(root.path(), &[1]), Some(0.1));
        assert_eq!(steal_on(root.path(), &[7]), None);
        assert_eq!(steal_on(root.path(), &[]), None);
    }

    #[test]
    fn partitions_and_loop_devices_do_not_count_twice() {
        let root = machine();
        assert_eq!(io(root.path()), Io { read_bytes: Some(10 * 512), write_bytes: Some(20 * 512) });
    }

    #[test]
    fn page_cache_is_used_memory() {
        let root = machine();
        let expected = Memory { used_bytes: Some(700 * 1024), file_bytes: Some(220 * 1024) };
        assert_eq!(memory(root.path()), expected);
    }

    #[test]
    fn pressure_is_optional() {
        let root = machine();
        let pressure = pressure(root.path()).unwrap();
        assert!(pressure.cpu.is_none());
        assert_eq!(pressure.io.unwrap().some_seconds, 3.0);
        std::fs::remove_dir_all(root.path().join("proc/pressure")).unwrap();
        assert_eq!(super::pressure(root.path()), None);
    }
}
