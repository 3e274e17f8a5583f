//! A guest in its pod's place on the network: a tap device, and what the kernel does with its frames.
//!
//! The guest has the address, the hardware address and the routes of the pod's interface. The kernel hands frames
//! from one to the other as they are ([`traffic`]): no bridge, no translation, no forwarding. Making that takes
//! the capability NET_ADMIN, which an init container has ([`prepare`]); the launcher opens what is there ([`Tap::open`]).

mod device;
mod netlink;
mod pod;
mod traffic;

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::guest_network::GuestNetwork;
use crate::interfaces::Control;
use crate::launch::config::LauncherConfig;
use crate::launch::names::NetworkNames;
use pod::PodInterface;

/// Serial of the disk with the guest's network settings, and their file there.
pub const DISK: &str = "network";
pub const FILE: &str = "network.json";
/// Tells the guest's PID 1 to wait for that disk. The kernel leaves a word with a dot alone.
pub const KERNEL_ARGUMENT: &str = "dbbench.network=disk";

const INTERFACE: &str = "tap0";
const VHOST: &str = "/dev/vhost-net";

/// Where the device file is that both containers use.
fn device_of(config: &LauncherConfig) -> PathBuf {
    config.scratch.join("tun")
}

/// Makes the tap device, for this process's group, and connects it with the pod's interface.
pub fn prepare(config: &LauncherConfig) -> Result<(), String> {
    let pod = PodInterface::of_this_pod(Path::new("/"))?;
    let file = device_of(config);
    device::make_file(&file)?;
    device::make_interface(&file, INTERFACE)?;
    let control = Control::open()?;
    control.set_mtu(INTERFACE, pod.mtu)?;
    control.set_up(INTERFACE)?;
    traffic::connect(&pod.name, INTERFACE, config.listen_port())?;
    eprintln!("dbbench-agent: {INTERFACE} has taken the place of {}", pod.name);
    Ok(())
}

/// A tap device that [`prepare`] has made, open.
#[derive(Debug)]
pub struct Tap {
    pub file: File,
    /// Moves the frames in the node's kernel; QEMU does it itself without.
    pub vhost: Option<File>,
    /// Of the guest's card, as QEMU writes it.
    pub hardware: String,
    pub network: GuestNetwork,
}

impl Tap {
    /// Opens the device. vhost-net needs virtualisation by hardware, and a container that may open its device.
    pub fn open(config: &LauncherConfig, names: NetworkNames, virtualised: bool) -> Result<Self, String> {
        let pod = PodInterface::of_this_pod(Path::new("/"))?;
        let file = device::attach(&device_of(config), INTERFACE)?;
        let vhost = || File::options().read(true).write(true).open(VHOST).ok();
        Ok(Self {
            file,
            vhost: virtualised.then(vhost).flatten(),
            network: pod.guest_network(&Control::open()?, names)?,
            hardware: pod.hardware,
        })
    }
}
