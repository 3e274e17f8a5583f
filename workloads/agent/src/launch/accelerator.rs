//! Whether the guest's instructions are executed by the CPU or emulated.

use std::fmt;
use std::fs::OpenOptions;

use super::config::{Accelerator, Machine};

/// Overrides `accelerator` of launcher.json.
const OVERRIDE: &str = "DBBENCH_ACCELERATOR";
const DEVICE: &str = "/dev/kvm";

/// What QEMU is told to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    Kvm,
    Tcg,
}

impl fmt::Display for Chosen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Kvm => "KVM",
            Self::Tcg => "TCG (emulation)",
        })
    }
}

/// Decides by the configuration, the environment and this machine.
pub fn choose(configured: Accelerator) -> Result<Chosen, String> {
    let wanted = match std::env::var(OVERRIDE).ok().filter(|word| !word.is_empty()) {
        Some(word) => parse(&word)?,
        None => configured,
    };
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let device = OpenOptions::new().read(true).write(true).open(DEVICE);
    decide(wanted, has_virtualisation(&cpuinfo), device.map(|_| ()).map_err(|error| error.to_string()))
}

/// A microvm has one timer that a kernel could measure its clock by, and under emulation on a busy node that
/// measurement fails: the guest then stops in the middle of its start.
pub fn suits(machine: Machine, chosen: Chosen) -> Result<(), String> {
    match (machine, chosen) {
        (Machine::Microvm, Chosen::Tcg) => {
            Err("machine \"microvm\" needs KVM; under emulation use \"q35\"".to_string())
        }
        _ => Ok(()),
    }
}

fn parse(word: &str) -> Result<Accelerator, String> {
    match word.to_ascii_lowercase().as_str() {
        "auto" => Ok(Accelerator::Auto),
        "kvm" => Ok(Accelerator::Kvm),
        "tcg" => Ok(Accelerator::Tcg),
        _ => Err(format!("{OVERRIDE}={word:?}: not Auto, KVM or TCG")),
    }
}

/// A /dev/kvm that merely exists proves nothing: it is there on machines whose CPU cannot do it.
fn has_virtualisation(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    flags.split_whitespace().any(|flag| flag == "vmx" || flag == "svm")
}

fn decide(wanted: Accelerator, virtualisation: bool, device: Result<(), String>) -> Result<Chosen, String> {
    let possible = match (virtualisation, device) {
        (false, _) => Err("the CPU flags have neither vmx nor svm".to_string()),
        (true, Err(error)) => Err(format!("{DEVICE}: {error}")),
        (true, Ok(())) => Ok(Chosen::Kvm),
    };
    match wanted {
        Accelerator::Tcg => Ok(Chosen::Tcg),
        Accelerator::Auto => Ok(possible.unwrap_or(Chosen::Tcg)),
        Accelerator::Kvm => possible.map_err(|reason| format!("KVM is asked for and not possible: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_cpu_flags_is_no_proof() {
        assert_eq!(decide(Accelerator::Auto, false, Ok(())), Ok(Chosen::Tcg));
        assert_eq!(decide(Accelerator::Auto, true, Err("denied".into())), Ok(Chosen::Tcg));
        assert_eq!(decide(Accelerator::Auto, true, Ok(())), Ok(Chosen::Kvm));
        assert_eq!(decide(Accelerator::Tcg, true, Ok(())), Ok(Chosen::Tcg));
    }

    #[test]
    fn asking_for_kvm_never_gives_emulation() {
        assert!(decide(Accelerator::Kvm, false, Ok(())).unwrap_err().contains("vmx"));
        assert!(decide(Accelerator::Kvm, true, Err("denied".into())).unwrap_err().contains("denied"));
    }

    #[test]
    fn a_microvm_is_not_emulated() {
        assert!(suits(Machine::Microvm, Chosen::Tcg).unwrap_err().contains("microvm"));
        assert_eq!(suits(Machine::Microvm, Chosen::Kvm), Ok(()));
        assert_eq!(suits(Machine::Q35, Chosen::Tcg), Ok(()));
    }

    #[test]
    fn flags_are_whole_words() {
        assert!(has_virtualisation("processor: 0\nflags\t\t: fpu vmx sse\n"));
        assert!(has_virtualisation("flags: svm\n"));
        assert!(!has_virtualisation("flags: fpu svm_lock vmxnet\nvmx flags: ept\n"));
    }

    #[test]
    fn the_override_is_checked() {
        assert_eq!(parse("tcg"), Ok(Accelerator::Tcg));
        assert!(parse("fast").unwrap_err().contains("fast"));
    }
}
