//! The guest's network interfaces (netdevice(7), rtnetlink's older sibling by ioctl).

use std::ffi::CString;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, socket, sockopt, AddressFamily, SockFlag, SockType};

use super::dhcp::{Client, Lease};
use super::{root, say};

const CLIENT_PORT: u16 = 68;
/// The network card is there as soon as its driver is.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two questions when a server does not answer a renewal.
const RENEW_AGAIN: Duration = Duration::from_secs(60);

/// Brings up loopback and the network card, and asks for an address.
pub fn bring_up() -> Result<Lease, String> {
    let control = Control::open()?;
    control.set_up("lo")?;
    let interface = wait_for_card()?;
    control.set_up(&interface)?;
    let client = client(&interface)?;
    let lease = client.acquire()?;
    control.configure(&interface, &lease)?;
    Ok(lease)
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
                    if renewed.address != lease.address {
                        say(&format!(
                            "the DHCP server wants to move {} to {}",
                            lease.address, renewed.address
                        ));
                    } else if renewed.resolv_conf() != lease.resolv_conf() {
                        let _ = root::write_file("/etc/resolv.conf", &renewed.resolv_conf());
                    }
                    lease = Lease { address: lease.address, ..renewed };
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

fn parse_hardware(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> =
        text.trim().split(':').map(|part| u8::from_str_radix(part, 16).ok()).collect();
    bytes?.try_into().ok()
}

/// A socket for configuring interfaces.
struct Control(OwnedFd);

impl Control {
    fn open() -> Result<Self, String> {
        socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .map(Self)
            .map_err(|error| format!("cannot configure the network: {error}"))
    }

    fn set_up(&self, interface: &str) -> Result<(), String> {
        let mut request = request(interface);
        self.call(libc::SIOCGIFFLAGS, &mut request, "read flags", interface)?;
        // SAFETY: the call above has filled in the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
        self.call(libc::SIOCSIFFLAGS, &mut request, "bring up", interface)
    }

    fn configure(&self, interface: &str, lease: &Lease) -> Result<(), String> {
        let mut request = request(interface);
        if let Some(mtu) = lease.mtu {
            request.ifr_ifru.ifru_mtu = i32::from(mtu);
            self.call(libc::SIOCSIFMTU, &mut request, "set the MTU of", interface)?;
        }
        request.ifr_ifru.ifru_addr = address(lease.address);
        self.call(libc::SIOCSIFADDR, &mut request, "set the address of", interface)?;
        request.ifr_ifru.ifru_netmask = address(netmask(lease.prefix));
        self.call(libc::SIOCSIFNETMASK, &mut request, "set the netmask of", interface)?;
        for (destination, prefix, gateway) in &lease.routes {
            self.add_route(interface, *destination, *prefix, *gateway)?;
        }
        Ok(())
    }

    fn add_route(&self, interface: &str, to: Ipv4Addr, prefix: u8, by: Ipv4Addr) -> Result<(), String> {
        let name = CString::new(interface).expect("an interface has no zero byte in its name");
        // SAFETY: plain data, for which zero is valid.
        let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
        route.rt_dst = address(to);
        route.rt_genmask = address(netmask(prefix));
        route.rt_flags = libc::RTF_UP;
        if !by.is_unspecified() {
            route.rt_gateway = address(by);
            route.rt_flags |= libc::RTF_GATEWAY;
        }
        route.rt_dev = name.as_ptr().cast_mut();
        // SAFETY: the kernel reads a route of this layout.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SIOCADDRT as _, &route) };
        match Errno::result(done) {
            Ok(_) | Err(Errno::EEXIST) => Ok(()),
            Err(error) => Err(format!("cannot add the route to {to}/{prefix} by {by}: {error}")),
        }
    }

    fn call(
        &self,
        call: libc::c_ulong,
        request: &mut libc::ifreq,
        what: &str,
        interface: &str,
    ) -> Result<(), String> {
        // SAFETY: all of these calls take an ifreq.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), call as _, request) };
        Errno::result(done).map(|_| ()).map_err(|error| format!("cannot {what} {interface}: {error}"))
    }
}

fn request(interface: &str) -> libc::ifreq {
    // SAFETY: plain data, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request
}

fn address(ip: Ipv4Addr) -> libc::sockaddr {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr { s_addr: u32::from(ip).to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: both are 16 bytes of plain data; that is how the address families share one type.
    unsafe { std::mem::transmute(address) }
}

fn netmask(prefix: u8) -> Ipv4Addr {
    Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_become_masks() {
        assert_eq!(netmask(0), Ipv4Addr::UNSPECIFIED);
        assert_eq!(netmask(24), Ipv4Addr::new(255, 255, 255, 0));
        assert_eq!(netmask(32), Ipv4Addr::BROADCAST);
    }

    #[test]
    fn hardware_addresses_are_read() {
        assert_eq!(parse_hardware("52:54:00:12:34:5f\n"), Some([0x52, 0x54, 0, 0x12, 0x34, 0x5f]));
        assert_eq!(parse_hardware("00:00"), None);
    }

    #[test]
    fn loopback_is_no_card() {
        let class = tempfile::tempdir().unwrap();
        fs::create_dir_all(class.path().join("lo")).unwrap();
        fs::create_dir_all(class.path().join("eth0/device")).unwrap();
        assert_eq!(cards(class.path()), ["eth0"]);
    }
}
