//! What is behind the guest's network card, opened before QEMU starts.

use std::fs;
use std::os::fd::{AsRawFd, RawFd};

use super::accelerator::Chosen;
use super::config::{Iso, LauncherConfig, Network};
use super::names::NetworkNames;
use super::qemu::Link;
use crate::tap::{self, Tap};

/// QEMU's own network, or a tap device.
#[derive(Debug)]
pub enum Opened {
    User { forward: Vec<u16>, names: NetworkNames },
    Tap(Tap),
}

/// Opens the network. A guest in the pod's place is told its settings by a disk and a kernel argument more: the
/// DHCP server of that network, if there is one, knows nothing of it.
pub fn open(config: &mut LauncherConfig, accelerator: Chosen) -> Result<Opened, String> {
    let names = NetworkNames::of_this_container();
    if let Network::User(user) = &config.network {
        return Ok(Opened::User { forward: user.forward.clone(), names });
    }
    let tap = Tap::open(config, names, accelerator == Chosen::Kvm)?;
    let directory = config.scratch.join(tap::DISK);
    let text = serde_json::to_string(&tap.network).expect("settings are plain data");
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(directory.join(tap::FILE), text))
        .map_err(|error| format!("cannot write {}: {error}", directory.display()))?;
    config.isos.push(Iso { serial: tap::DISK.to_string(), directory, label: None });
    // A configuration with a tap device has a kernel.
    config.cmdline.get_or_insert_default().push_str(&format!(" {}", tap::KERNEL_ARGUMENT));
    Ok(Opened::Tap(tap))
}

impl Opened {
    /// For QEMU's command line.
    pub fn link(&self) -> Link {
        match self {
            Self::User { forward, names } => Link::User { forward: forward.clone(), names: names.clone() },
            Self::Tap(tap) => Link::Tap {
                tap: tap.file.as_raw_fd(),
                vhost: tap.vhost.as_ref().map(AsRawFd::as_raw_fd),
                hardware: tap.hardware.clone(),
            },
        }
    }

    /// Files that QEMU inherits.
    pub fn files(&self) -> Vec<RawFd> {
        match self {
            Self::User { .. } => Vec::new(),
            Self::Tap(tap) => {
                let files = [Some(&tap.file), tap.vhost.as_ref()];
                files.into_iter().flatten().map(AsRawFd::as_raw_fd).collect()
            }
        }
    }
}
