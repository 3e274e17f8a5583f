//! Huge pages that a database may use: those of a guest's kernel, or the limit of a container's cgroup.

use std::collections::BTreeMap;
use std::path::Path;

use crate::counters::Cgroup;

const SIZES: &str = "sys/kernel/mm/hugepages";

/// Bytes by page size that this kernel has set aside; `root` is / outside tests.
pub fn of_this_kernel(root: &Path) -> BTreeMap<String, u64> {
    by_size(root, |kib| {
        let file = root.join(SIZES).join(format!("hugepages-{kib}kB/nr_hugepages"));
        let pages: u64 = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
        Some(pages * kib * 1024)
    })
}

/// Bytes by page size that the cgroup may use. Without a limit nobody has promised any.
pub fn of_cgroup(root: &Path, cgroup: &Cgroup) -> BTreeMap<String, u64> {
    by_size(root, |kib| cgroup.hugepage_limit(&in_binary_units(kib, "B")))
}

/// The sizes that the kernel knows, without those of which there is nothing.
fn by_size(root: &Path, bytes: impl Fn(u64) -> Option<u64>) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(root.join(SIZES)).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
            let bytes = bytes(kib).filter(|bytes| *bytes > 0)?;
            Some((in_binary_units(kib, "i"), bytes))
        })
        .collect()
}

/// `2Mi` as Kubernetes writes a page size, `2MB` as the kernel does.
fn in_binary_units(kib: u64, suffix: &str) -> String {
    let (number, unit) = match kib {
        kib if kib % (1 << 20) == 0 => (kib >> 20, "G"),
        kib if kib % (1 << 10) == 0 => (kib >> 10, "M"),
        kib => (kib, "K"),
    };
    format!("{number}{unit}{suffix}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn machine(pages: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (size, count) in pages {
            let directory = root.path().join(SIZES).join(size);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("nr_hugepages"), count).unwrap();
        }
        root
    }

    #[test]
    fn pages_of_a_guest_are_those_of_its_kernel() {
        let root = machine(&[("hugepages-2048kB", "8\n"), ("hugepages-1048576kB", "0\n")]);
        assert_eq!(of_this_kernel(root.path()), BTreeMap::from([("2Mi".to_string(), 16 << 20)]));
    }

    #[test]
    fn pages_of_a_container_are_its_limit() {
        let root = machine(&[("hugepages-2048kB", "64\n"), ("hugepages-1048576kB", "4\n")]);
        for (limit, expected) in [("2MB.max", "16777216\n"), ("1GB.max", "max\n")] {
            fs::write(root.path().join(format!("hugetlb.{limit}")), expected).unwrap();
        }
        let cgroup = Cgroup::V2 { directory: root.path().into() };
        assert_eq!(of_cgroup(root.path(), &cgroup), BTreeMap::from([("2Mi".to_string(), 16 << 20)]));
    }
}
