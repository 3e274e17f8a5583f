//! Requests to the kernel's traffic control (rtnetlink(7)): attributes, messages, and the answer to each.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{recv, send, socket, AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType};

const REQUEST_AND_ACKNOWLEDGE: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
/// Length of nlmsghdr, behind which an answer has its error.
const HEADER: usize = 16;

/// An attribute: length, kind and value, filled up to a multiple of four bytes.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).expect("attributes of these requests are short");
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The attribute of a kind's name, which ends with a zero byte.
pub fn name(kind: u16, text: &str) -> Vec<u8> {
    attribute(kind, &[text.as_bytes(), &[0]].concat())
}

fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + body.len()).expect("these requests are short");
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((REQUEST_AND_ACKNOWLEDGE | flags).to_ne_bytes());
    // The sequence number and the sender: one request at a time, and the kernel knows the socket.
    bytes.extend([0; 8]);
    bytes.extend_from_slice(body);
    bytes
}

/// A socket for requests, to be answered one by one.
pub struct Requests(OwnedFd);

impl Requests {
    pub fn open() -> Result<Self, Errno> {
        let flags = SockFlag::SOCK_CLOEXEC;
        socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute).map(Self)
    }

    /// Sends a request and waits until the kernel has done it.
    pub fn ask(&self, kind: u16, flags: u16, body: &[u8]) -> Result<(), Errno> {
        send(self.0.as_raw_fd(), &message(kind, flags, body), MsgFlags::empty())?;
        let mut buffer = [0; 4096];
        let count = recv(self.0.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        let answer = buffer.get(HEADER..HEADER + 4).filter(|_| count >= HEADER + 4).ok_or(Errno::EPROTO)?;
        match i32::from_ne_bytes(answer.try_into().expect("four bytes")) {
            0 => Ok(()),
            error => Err(Errno::from_raw(-error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_filled_up_and_say_how_long_they_are() {
        let expected = [12u16.to_ne_bytes().as_slice(), &1u16.to_ne_bytes(), b"ingress\0"].concat();
        assert_eq!(name(1, "ingress"), expected);
        assert_eq!(attribute(2, &[7; 5]).len(), 12);
        assert_eq!(attribute(2, &[7; 5])[..2], 9u16.to_ne_bytes());
    }

    #[test]
    fn the_kernel_says_what_it_refuses() {
        // Interface 0 is none.
        let refused = Requests::open().unwrap().ask(libc::RTM_DELQDISC, 0, &[0; 20]);
        assert!(matches!(refused, Err(Errno::ENODEV | Errno::EPERM)), "{refused:?}");
    }
}
