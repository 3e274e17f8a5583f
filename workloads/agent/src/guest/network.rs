//! The guest's network card: set to what a DHCP server says, or the launcher's disk.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::mount::{umount2, MntFlags};
use nix::sys::socket::{setsockopt, sockopt};

use super::dhcp::{Client, Lease};
use super::{disks, root, say};
use crate::guest_network::{parse_hardware, GuestNetwork};
use crate::interfaces::Control;
use crate::tap;

const CLIENT_PORT: u16 = 68;
/// The network card is there as soon as its driver is.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two questions when a server does not answer a renewal.
const RENEW_AGAIN: Duration = Duration::from_secs(60);

/// Brings up loopback and the network card. The settings are a lease where a DHCP server gave them.
pub fn bring_up() -> Result<(GuestNetwork, Option<Lease>), String> {
    let control = Control::open()?;
    control.set_up("lo")?;
    let interface = wait_for_card()?;
    control.set_up(&interface)?;
    let (network, lease) = if is_on_a_disk(&fs::read_to_string("/proc/cmdline").unwrap_or_default()) {
        (read_disk()?, None)
    } else {
        let lease = client(&interface)?.acquire()?;
        (lease.network.clone(), Some(lease))
    };
    control.configure(&interface, &network)?;
    Ok((network, lease))
}

fn is_on_a_disk(cmdline: &str) -> bool {
    cmdline.split_whitespace().any(|word| word == tap::KERNEL_ARGUMENT)
}

/// The settings that the launcher wrote, from a disk of their own.
fn read_disk() -> Result<GuestNetwork, String> {
    let point = Path::new("/network-disk");
    disks::mount_iso(&disks::wait_for(tap::DISK)?, point)?;
    let failed = |error: &dyn std::fmt::Display| format!("disk {}, {}: {error}", tap::DISK, tap::FILE);
    let text = fs::read_to_string(point.join(tap::FILE)).map_err(|error| failed(&error))?;
    umount2(point, MntFlags::empty()).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// Renews the lease in the background, when half of its time is over (RFC 2131, 4.4.5).
pub fn keep_lease(mut lease: Lease) {
    std::thread::spawn(move || {
        let Ok(client) = wait_for_card().and_then(|interface| client(&interface)) else { return };
        let mut pause = lease.duration / 2;
        loop {
            // A lease of 0xffffffff seconds is for ever.
            std::thread::sleep(pause.max(RENEW_AGAIN.min(lease.duration)));
            pause = match client.renew(&lease) {
                Some(renewed) => {
                    let (held, offered) = (&lease.network, &renewed.network);
                    if offered.address != held.address {
                        say(&format!(
                            "the DHCP server wants to move {} to {}",
                            held.address, offered.address
                        ));
                    } else if offered.resolv_conf() != held.resolv_conf() {
                        let _ = root::write_file("/etc/resolv.conf", &offered.resolv_conf());
                    }
                    let address = held.address;
                    lease = Lease { network: GuestNetwork { address, ..renewed.network }, ..renewed };
                    lease.duration / 2
                }
                None => RENEW_AGAIN,
            };
        }
    });
}

fn wait_for_card() -> Result<String, String> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(card) = cards(Path::new("/sys/class/net")).into_iter().next() {
            return Ok(card);
        }
        if Instant::now() >= end {
            return Err("there is no network card".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Interfaces with a device behind them, in the order of their names.
fn cards(class: &Path) -> Vec<String> {
    let entries = fs::read_dir(class).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join("device").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn client(interface: &str) -> Result<Client, String> {
    let failed = |error: std::io::Error| format!("DHCP on {interface}: {error}");
    let hardware = fs::read_to_string(format!("/sys/class/net/{interface}/address")).map_err(failed)?;
    let hardware = parse_hardware(&hardware)
        .ok_or_else(|| format!("{interface} has the address {:?}", hardware.trim()))?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, CLIENT_PORT)).map_err(failed)?;
    socket.set_broadcast(true).map_err(failed)?;
    // Without an address there is no route: the interface has to be named.
    setsockopt(&socket, sockopt::BindToDevice, &interface.into()).map_err(|error| failed(error.into()))?;
    Ok(Client { socket, hardware })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_arguments_say_where_the_settings_are() {
        assert!(is_on_a_disk("console=ttyS0 panic=-1 dbbench.network=disk\n"));
        assert!(!is_on_a_disk("console=ttyS0 panic=-1\n"));
    }

    #[test]
    fn loopback_is_no_card() {
        let class = tempfile::tempdir().unwrap();
        fs::create_dir_all(class.path().join("lo")).unwrap();
        fs::create_dir_all(class.path().join("eth0/device")).unwrap();
        assert_eq!(cards(class.path()), ["eth0"]);
    }
}
