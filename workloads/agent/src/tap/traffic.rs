//! What the kernel does with the frames of the pod's interface and of the tap device (tc-u32(8), tc-mirred(8)).
//!
//! As Kata Containers does it (its model `tcfilter`), but for the port of the launcher's own agent, which stays the pod's.

use std::path::Path;

use nix::errno::Errno;

use super::netlink::{attribute, name, Requests};

// linux/pkt_sched.h, linux/rtnetlink.h, linux/pkt_cls.h, linux/tc_act/tc_mirred.h
const TC_H_INGRESS: u32 = 0xffff_fff1;
const INGRESS: u32 = 0xffff_0000;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_U32_SEL: u16 = 5;
const TCA_U32_ACT: u16 = 7;
const TC_U32_TERMINAL: u8 = 1;
const TCA_MIRRED_PARMS: u16 = 2;
const TC_ACT_OK: i32 = 0;
const TC_ACT_STOLEN: i32 = 4;
const TCA_EGRESS_REDIR: i32 = 1;
const TCA_EGRESS_MIRROR: i32 = 2;

const IPV4: u16 = libc::ETH_P_IP as u16;
const ARP: u16 = libc::ETH_P_ARP as u16;
const ANYTHING: u16 = libc::ETH_P_ALL as u16;
const CREATE: u16 = (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;

/// Frames that arrive at an interface, and what becomes of them. The first rule that fits holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    interface: u32,
    /// From 1 on.
    place: u16,
    protocol: u16,
    keys: Vec<Key>,
    action: Action,
}

/// Four bytes that a packet must have from an offset on, as far as the mask goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    offset: i32,
    value: u32,
    mask: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// They are this container's.
    Keep,
    /// They are sent by this interface as well.
    Copy(u32),
    /// They are sent by this interface alone.
    Hand(u32),
}

/// Every packet.
const ALL: Key = Key { offset: 0, value: 0, mask: 0 };

/// TCP to this port, in a packet that is whole and has no options.
fn tcp_to(port: u16) -> Vec<Key> {
    vec![
        Key { offset: 0, value: 0x0500_0000, mask: 0x0f00_0000 },
        Key { offset: 4, value: 0, mask: 0x0000_1fff },
        Key { offset: 8, value: (libc::IPPROTO_TCP as u32) << 16, mask: 0x00ff_0000 },
        Key { offset: 20, value: u32::from(port), mask: 0x0000_ffff },
    ]
}

/// Both sides answer for the pod's address, with the same hardware address; each needs the answers of others.
/// Everything else that is not IPv4 is no business of the guest's.
fn rules(pod: u32, tap: u32, kept: Option<u16>) -> Vec<Rule> {
    let rule = |interface, place, protocol, keys, action| Rule { interface, place, protocol, keys, action };
    let keep = kept.map(|port| rule(pod, 1, IPV4, tcp_to(port), Action::Keep));
    let rest = [
        rule(pod, 2, ARP, vec![ALL], Action::Copy(tap)),
        rule(pod, 3, IPV4, vec![ALL], Action::Hand(tap)),
        rule(tap, 1, ANYTHING, vec![ALL], Action::Hand(pod)),
    ];
    keep.into_iter().chain(rest).collect()
}

/// Connects the pod's interface with the tap device, in place of what connected them before.
pub fn connect(pod: &str, tap: &str, kept: Option<u16>) -> Result<(), String> {
    let failed = |error: Errno| {
        format!(
            "cannot connect {pod} with {tap}: {error}; the node's kernel must have the queueing discipline \
             ingress, the classifier u32 and the action mirred (modules sch_ingress, cls_u32, act_mirred)"
        )
    };
    let (pod, tap) = (index(pod)?, index(tap)?);
    let requests = Requests::open().map_err(failed)?;
    for interface in [pod, tap] {
        let body = [traffic_control(interface, INGRESS, TC_H_INGRESS, 0), name(TCA_KIND, "ingress")].concat();
        // There is none at the first start.
        let _ = requests.ask(libc::RTM_DELQDISC, 0, &body);
        requests.ask(libc::RTM_NEWQDISC, CREATE, &body).map_err(failed)?;
    }
    for rule in rules(pod, tap, kept) {
        requests.ask(libc::RTM_NEWTFILTER, CREATE, &filter(&rule)).map_err(failed)?;
    }
    Ok(())
}

fn index(interface: &str) -> Result<u32, String> {
    let path = Path::new("/sys/class/net").join(interface).join("ifindex");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.trim().parse().map_err(|error| format!("{}: {error}", path.display()))
}

/// A tcmsg.
fn traffic_control(interface: u32, handle: u32, parent: u32, info: u32) -> Vec<u8> {
    [0, interface, handle, parent, info].iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn filter(rule: &Rule) -> Vec<u8> {
    let info = (u32::from(rule.place) << 16) | u32::from(rule.protocol.to_be());
    let mut options = attribute(TCA_U32_SEL, &selector(&rule.keys));
    if let Some(mirrored) = mirrored(rule.action) {
        let mut action = name(TCA_KIND, "mirred");
        action.extend(attribute(TCA_OPTIONS, &attribute(TCA_MIRRED_PARMS, &mirrored)));
        // The first of the actions.
        options.extend(attribute(TCA_U32_ACT, &attribute(1, &action)));
    }
    let mut body = traffic_control(rule.interface, 0, INGRESS, info);
    body.extend(name(TCA_KIND, "u32"));
    body.extend(attribute(TCA_OPTIONS, &options));
    body
}

/// A tc_u32_sel and its keys. Values and masks are in the network's order, counted from the IP header.
fn selector(keys: &[Key]) -> Vec<u8> {
    let count = u8::try_from(keys.len()).expect("a handful of keys");
    let mut bytes = vec![TC_U32_TERMINAL, 0, count];
    bytes.resize(16, 0);
    for key in keys {
        bytes.extend(key.mask.to_be_bytes());
        bytes.extend(key.value.to_be_bytes());
        bytes.extend(key.offset.to_ne_bytes());
        // No offset of the offset.
        bytes.extend([0; 4]);
    }
    bytes
}

/// A tc_mirred; None where the packet just goes on to this container.
fn mirrored(action: Action) -> Option<Vec<u8>> {
    let (end, how, to) = match action {
        Action::Keep => return None,
        Action::Copy(to) => (TC_ACT_OK, TCA_EGRESS_MIRROR, to),
        Action::Hand(to) => (TC_ACT_STOLEN, TCA_EGRESS_REDIR, to),
    };
    // index, capab, action, refcnt, bindcnt, eaction
    let numbers = [0, 0, end, 0, 0, how];
    Some(numbers.iter().flat_map(|number| number.to_ne_bytes()).chain(to.to_ne_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_has_all_but_the_agents_port() {
        let made = rules(2, 3, Some(9591));
        assert_eq!(made[0].action, Action::Keep);
        assert_eq!(made[1..], rules(2, 3, None));
        assert_eq!(made[0].keys[3], Key { offset: 20, value: 9591, mask: 0xffff });
        let of_pod: Vec<_> = made.iter().filter(|rule| rule.interface == 2).map(|rule| rule.place).collect();
        assert_eq!(of_pod, [1, 2, 3]);
        assert!(made.iter().all(|rule| rule.interface != 3 || rule.action == Action::Hand(2)));
    }

    #[test]
    fn a_filter_has_the_layout_that_the_kernel_reads() {
        let hand = filter(&rules(2, 3, None)[1]);
        // tcmsg, the kind, and the options: a selector of one key, and one action.
        assert_eq!(hand.len(), 20 + 8 + 4 + (4 + 32) + (4 + 4 + 12 + 4 + 4 + 28));
        assert_eq!(hand[16..20], ((3u32 << 16) | u32::from(0x0800u16.to_be())).to_ne_bytes());
        assert_eq!(hand[24..28], *b"u32\0");
        assert_eq!(hand[hand.len() - 8..], [1u32.to_ne_bytes(), 3u32.to_ne_bytes()].concat());
        let keep = filter(&rules(2, 3, Some(9591))[0]);
        assert_eq!(keep.len(), 20 + 8 + 4 + 4 + 16 + 4 * 16);
        assert_eq!(keep[keep.len() - 12..keep.len() - 8], 9591u32.to_be_bytes());
    }
}
