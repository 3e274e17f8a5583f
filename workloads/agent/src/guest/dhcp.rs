//! DHCP (RFC 2131): the address, the routes and the names of the guest.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use dhcproto::v4::{DhcpOption, Flags, Message, MessageType, OptionCode};
use dhcproto::{Decodable, Decoder, Encodable, Encoder};

use crate::guest_network::{GuestNetwork, Route};

const SERVER_PORT: u16 = 67;
/// An offer comes within milliseconds, or the first question came before the network was ready.
const ASK_AGAIN: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(30);
/// For servers that do not say; also what KubeVirt's leases last.
const DEFAULT_LEASE: Duration = Duration::from_secs(86_400);

/// What the guest was given, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub network: GuestNetwork,
    pub duration: Duration,
}

/// A client on one interface.
pub struct Client {
    pub socket: UdpSocket,
    pub hardware: [u8; 6],
}

impl Client {
    /// Asks until there is a lease, or fails after 30 s.
    pub fn acquire(&self) -> Result<Lease, String> {
        let end = Instant::now() + PATIENCE;
        let mut transaction = first_transaction(self.hardware);
        while Instant::now() < end {
            transaction = transaction.wrapping_add(1);
            let discover = self.message(transaction, MessageType::Discover);
            let Some(offer) = self.ask(&discover, &[MessageType::Offer])? else { continue };
            let mut request = self.message(transaction, MessageType::Request);
            request.opts_mut().insert(DhcpOption::RequestedIpAddress(offer.yiaddr()));
            if let Some(DhcpOption::ServerIdentifier(server)) = offer.opts().get(OptionCode::ServerIdentifier)
            {
                request.opts_mut().insert(DhcpOption::ServerIdentifier(*server));
            }
            let Some(answer) = self.ask(&request, &[MessageType::Ack, MessageType::Nak])? else { continue };
            if let Some(lease) = read_lease(&answer) {
                return Ok(lease);
            }
        }
        Err(format!("no DHCP server gave an address within {} s", PATIENCE.as_secs()))
    }

    /// Asks once for the same address again. None when no server agrees.
    pub fn renew(&self, lease: &Lease) -> Option<Lease> {
        let transaction = first_transaction(self.hardware).wrapping_add(0x8000_0000);
        let mut request = self.message(transaction, MessageType::Request);
        // By broadcast and with the address filled in: the REBINDING state, which any server may answer.
        request.set_ciaddr(lease.network.address);
        request.set_flags(Flags::default());
        let answer = self.ask(&request, &[MessageType::Ack]).ok()??;
        read_lease(&answer)
    }

    fn message(&self, transaction: u32, kind: MessageType) -> Message {
        let zero = Ipv4Addr::UNSPECIFIED;
        let mut message = Message::new_with_id(transaction, zero, zero, zero, zero, &self.hardware);
        // There is no address yet that an answer could be sent to.
        message.set_flags(Flags::default().set_broadcast());
        let options = message.opts_mut();
        options.insert(DhcpOption::MessageType(kind));
        options.insert(DhcpOption::ParameterRequestList(vec![
            OptionCode::SubnetMask,
            OptionCode::Router,
            OptionCode::DomainNameServer,
            OptionCode::Hostname,
            OptionCode::DomainName,
            OptionCode::InterfaceMtu,
            OptionCode::DomainSearch,
            OptionCode::ClasslessStaticRoute,
        ]));
        message
    }

    /// Sends a message and waits for an answer of one of these kinds to it.
    fn ask(&self, message: &Message, wanted: &[MessageType]) -> Result<Option<Message>, String> {
        let mut bytes = Vec::new();
        message.encode(&mut Encoder::new(&mut bytes)).map_err(|error| format!("DHCP: {error}"))?;
        let server = SocketAddr::from((Ipv4Addr::BROADCAST, SERVER_PORT));
        // A network that is not up yet is a reason to ask again.
        let _ = self.socket.send_to(&bytes, server);
        let end = Instant::now() + ASK_AGAIN;
        let mut buffer = [0; 1500];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.socket.set_read_timeout(Some(left)).map_err(|error| format!("DHCP: {error}"))?;
            let Ok((count, _)) = self.socket.recv_from(&mut buffer) else { continue };
            let Ok(answer) = Message::decode(&mut Decoder::new(&buffer[..count])) else { continue };
            let kind = answer.opts().msg_type();
            if answer.xid() == message.xid() && kind.is_some_and(|kind| wanted.contains(&kind)) {
                return Ok(Some(answer));
            }
        }
    }
}

/// Different for each guest on a network, and not secret.
fn first_transaction(hardware: [u8; 6]) -> u32 {
    u32::from_be_bytes([hardware[2], hardware[3], hardware[4], hardware[5]])
        ^ std::process::id().rotate_left(16)
}

/// Reads an acknowledgement; None for a refusal.
fn read_lease(answer: &Message) -> Option<Lease> {
    let options = answer.opts();
    if options.msg_type() != Some(MessageType::Ack) {
        return None;
    }
    let prefix = match options.get(OptionCode::SubnetMask) {
        Some(DhcpOption::SubnetMask(mask)) => u32::from(*mask).leading_ones() as u8,
        _ => 24,
    };
    let any = Ipv4Addr::UNSPECIFIED;
    let routes = match (options.get(OptionCode::ClasslessStaticRoute), options.get(OptionCode::Router)) {
        // RFC 3442: with classless routes the router option is to be ignored.
        (Some(DhcpOption::ClasslessStaticRoute(routes)), _) => {
            let route = |to: Ipv4Addr, prefix, by| Route { to, prefix, by };
            routes.iter().map(|(net, gateway)| route(net.network(), net.prefix_len(), *gateway)).collect()
        }
        (_, Some(DhcpOption::Router(routers))) => {
            routers.first().map(|router| Route { to: any, prefix: 0, by: *router }).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let dns = match options.get(OptionCode::DomainNameServer) {
        Some(DhcpOption::DomainNameServer(servers)) => servers.clone(),
        _ => Vec::new(),
    };
    let search = match (options.get(OptionCode::DomainSearch), options.get(OptionCode::DomainName)) {
        (Some(DhcpOption::DomainSearch(names)), _) => {
            names.iter().map(|name| plain(&name.to_string())).collect()
        }
        (_, Some(DhcpOption::DomainName(name))) => vec![plain(name)],
        _ => Vec::new(),
    };
    let hostname = match options.get(OptionCode::Hostname) {
        Some(DhcpOption::Hostname(name)) if !name.is_empty() => Some(plain(name)),
        _ => None,
    };
    let mtu = match options.get(OptionCode::InterfaceMtu) {
        Some(DhcpOption::InterfaceMtu(mtu)) => Some(*mtu),
        _ => None,
    };
    let duration = match options.get(OptionCode::AddressLeaseTime) {
        Some(DhcpOption::AddressLeaseTime(seconds)) => Duration::from_secs(u64::from(*seconds)),
        _ => DEFAULT_LEASE,
    };
    let (address, neighbours) = (answer.yiaddr(), Vec::new());
    let network = GuestNetwork { address, prefix, routes, neighbours, dns, search, hostname, mtu };
    Some(Lease { network, duration })
}

/// Names without the final dot, and without what some servers put after them.
fn plain(name: &str) -> String {
    name.trim_end_matches(['\0', '.']).to_string()
}
