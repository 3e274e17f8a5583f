//! Who has issued a certificate, as people write it: `Amazon RDS us-east-1 Root CA RSA2048 G1`.

use tokio_rustls::rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

/// DER of the object identifiers of names (X.520): the common name, and what stands in where there is none.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const UNIT: &[u8] = &[0x55, 0x04, 0x0b];
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

/// The name of the authority above the chain that a server has sent, where it can be read.
pub fn above(certificate: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> Option<String> {
    let certificate = EndEntityCert::try_from(certificate).ok()?;
    let others: Vec<EndEntityCert<'_>> = others.iter().filter_map(|one| one.try_into().ok()).collect();
    let mut issuer = certificate.issuer();
    // Each certificate leads one step up; a circle leads nowhere.
    for _ in 0..others.len() {
        match others.iter().find(|one| one.subject() == issuer && one.issuer() != issuer) {
            Some(found) => issuer = found.issuer(),
            None => break,
        }
    }
    name(issuer)
}

/// The common name in a list of relative distinguished names, or else the unit or organization.
fn name(mut names: &[u8]) -> Option<String> {
    let mut found = [None, None, None];
    while !names.is_empty() {
        let (set, rest) = element(names)?;
        names = rest;
        let (pair, _) = element(set)?;
        let (identifier, value) = element(pair)?;
        let (text, _) = element(value)?;
        if let Some(place) = [COMMON_NAME, UNIT, ORGANIZATION].iter().position(|one| *one == identifier) {
            found[place] = Some(String::from_utf8_lossy(text).into_owned());
        }
    }
    found.into_iter().flatten().next()
}

/// The content of the first element, and what comes after it (X.690: tag, length, content).
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match *first {
        short @ ..=0x7f => (usize::from(short), rest),
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => (usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?])), &rest[2..]),
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A relative distinguished name of one attribute.
    fn attribute(identifier: &[u8], text: &str) -> Vec<u8> {
        let wrap = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        let pair = [wrap(0x06, identifier), wrap(0x0c, text.as_bytes())].concat();
        wrap(0x31, &wrap(0x30, &pair))
    }

    #[test]
    fn the_common_name_is_told_or_the_next_best() {
        let organization = attribute(ORGANIZATION, "Example Inc");
        let both = [organization.clone(), attribute(COMMON_NAME, "Example Root")].concat();
        assert_eq!(name(&both).as_deref(), Some("Example Root"));
        assert_eq!(name(&organization).as_deref(), Some("Example Inc"));
        assert_eq!(name(&[]), None);
    }

    #[test]
    fn what_is_cut_off_or_no_name_is_none() {
        let whole = attribute(COMMON_NAME, "Example Root");
        for end in 1..whole.len() {
            assert_eq!(name(&whole[..end]), None);
        }
        assert_eq!(name(&[0x31, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
