//! Network interfaces, their addresses, routes and neighbours (netdevice(7), rtnetlink's older sibling by ioctl).

use std::ffi::CString;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};

use crate::guest_network::{GuestNetwork, Neighbour, Route};

/// From linux/if_arp.h: the entry is complete, and stays.
const COMPLETE_AND_PERMANENT: libc::c_int = 0x02 | 0x04;

/// A socket for configuring interfaces.
pub struct Control(OwnedFd);

impl Control {
    pub fn open() -> Result<Self, String> {
        socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .map(Self)
            .map_err(|error| format!("cannot configure the network: {error}"))
    }

    pub fn set_up(&self, interface: &str) -> Result<(), String> {
        let mut request = request(interface);
        self.call(libc::SIOCGIFFLAGS, &mut request, "read flags", interface)?;
        // SAFETY: the call above has filled in the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
        self.call(libc::SIOCSIFFLAGS, &mut request, "bring up", interface)
    }

    pub fn set_mtu(&self, interface: &str, mtu: u16) -> Result<(), String> {
        let mut request = request(interface);
        request.ifr_ifru.ifru_mtu = i32::from(mtu);
        self.call(libc::SIOCSIFMTU, &mut request, "set the MTU of", interface)
    }

    /// The interface's first address.
    pub fn address(&self, interface: &str) -> Result<Ipv4Addr, String> {
        let mut request = request(interface);
        self.call(libc::SIOCGIFADDR, &mut request, "read the address of", interface)?;
        // SAFETY: the call above has filled in an address of the family that the socket is of; both types are
        // 16 bytes of plain data.
        let found =
            unsafe { std::mem::transmute::<libc::sockaddr, libc::sockaddr_in>(request.ifr_ifru.ifru_addr) };
        Ok(Ipv4Addr::from(u32::from_be(found.sin_addr.s_addr)))
    }

    /// Gives the interface its address, routes and neighbours.
    pub fn configure(&self, interface: &str, network: &GuestNetwork) -> Result<(), String> {
        if let Some(mtu) = network.mtu {
            self.set_mtu(interface, mtu)?;
        }
        let mut request = request(interface);
        request.ifr_ifru.ifru_addr = address(network.address);
        self.call(libc::SIOCSIFADDR, &mut request, "set the address of", interface)?;
        request.ifr_ifru.ifru_netmask = address(netmask(network.prefix));
        self.call(libc::SIOCSIFNETMASK, &mut request, "set the netmask of", interface)?;
        for route in &network.routes {
            self.add_route(interface, route)?;
        }
        for neighbour in &network.neighbours {
            self.add_neighbour(interface, neighbour)?;
        }
        Ok(())
    }

    fn add_route(&self, interface: &str, wanted: &Route) -> Result<(), String> {
        let name = CString::new(interface).expect("an interface has no zero byte in its name");
        // SAFETY: plain data, for which zero is valid.
        let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
        route.rt_dst = address(wanted.to);
        route.rt_genmask = address(netmask(wanted.prefix));
        route.rt_flags = libc::RTF_UP;
        if !wanted.by.is_unspecified() {
            route.rt_gateway = address(wanted.by);
            route.rt_flags |= libc::RTF_GATEWAY;
        }
        route.rt_dev = name.as_ptr().cast_mut();
        // SAFETY: the kernel reads a route of this layout.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SIOCADDRT as _, &route) };
        match Errno::result(done) {
            Ok(_) | Err(Errno::EEXIST) => Ok(()),
            Err(error) => {
                let Route { to, prefix, by } = wanted;
                Err(format!("cannot add the route to {to}/{prefix} by {by}: {error}"))
            }
        }
    }

    fn add_neighbour(&self, interface: &str, neighbour: &Neighbour) -> Result<(), String> {
        // SAFETY: plain data, for which zero is valid.
        let mut entry: libc::arpreq = unsafe { std::mem::zeroed() };
        entry.arp_pa = address(neighbour.address);
        entry.arp_ha.sa_family = libc::ARPHRD_ETHER;
        for (to, from) in entry.arp_ha.sa_data.iter_mut().zip(neighbour.hardware) {
            *to = from as libc::c_char;
        }
        entry.arp_flags = COMPLETE_AND_PERMANENT;
        copy_name(&mut entry.arp_dev, interface);
        // SAFETY: the kernel reads an entry of this layout.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SIOCSARP as _, &entry) };
        Errno::result(done)
            .map(|_| ())
            .map_err(|error| format!("cannot add the neighbour {}: {error}", neighbour.address))
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

/// A request about this interface, with nothing else in it.
pub fn request(interface: &str) -> libc::ifreq {
    // SAFETY: plain data, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    copy_name(&mut request.ifr_name, interface);
    request
}

/// The last byte stays zero.
fn copy_name(to: &mut [libc::c_char; libc::IFNAMSIZ], interface: &str) {
    for (to, from) in to.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
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
    fn loopback_has_its_address() {
        assert_eq!(Control::open().unwrap().address("lo"), Ok(Ipv4Addr::LOCALHOST));
        assert!(Control::open().unwrap().address("no-such").unwrap_err().contains("no-such"));
    }
}
