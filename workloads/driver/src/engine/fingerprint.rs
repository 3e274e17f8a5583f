//! Fingerprints of query plans.

use sha2::{Digest, Sha256};

/// sha256 of a plan's shape as text, shortened to 16 hexadecimal digits.
pub fn of_shape(shape: &str) -> String {
    let digest = Sha256::digest(shape.as_bytes());
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
