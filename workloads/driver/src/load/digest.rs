//! The digest of generated data, independent of the order in which it was loaded.

use sha2::{Digest, Sha256};

/// sha256 of one chunk's rows.
pub type ChunkDigest = [u8; 32];

/// The digest of a data set: for each table, in order, sha256 over the digests of its chunks in chunk
/// order; over names and digests of all tables, sha256 again.
pub fn combine<'a>(tables: impl IntoIterator<Item = (&'a str, &'a [ChunkDigest])>) -> String {
    let mut whole = Sha256::new();
    for (name, chunks) in tables {
        let mut table = Sha256::new();
        chunks.iter().for_each(|chunk| table.update(chunk));
        whole.update(name.as_bytes());
        whole.update([0]);
        whole.update(table.finalize());
    }
    let hex: String = whole.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// The digest of a data set that is not loaded.
#[cfg(test)]
pub fn of(data: &impl super::Dataset) -> String {
    let chunk = |table, number| {
        let (mut rows, mut text) = (data.open(table, number), Vec::new());
        while rows.fill(&mut text, usize::MAX) > 0 {}
        Sha256::digest(&text).into()
    };
    let chunks = |table| (0..data.chunks(table)).map(|number| chunk(table, number)).collect();
    let tables: Vec<(&str, Vec<ChunkDigest>)> =
        data.tables().iter().map(|table| (table.name, chunks(table))).collect();
    combine(tables.iter().map(|(name, chunks)| (*name, chunks.as_slice())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_depends_on_names_contents_and_chunk_order() {
        let (one, two) = ([1u8; 32], [2u8; 32]);
        let base = combine([("t", &[one, two][..])]);
        assert!(base.starts_with("sha256:") && base.len() == 7 + 64);
        assert_eq!(base, combine([("t", &[one, two][..])]));
        assert_ne!(base, combine([("t", &[two, one][..])]));
        assert_ne!(base, combine([("u", &[one, two][..])]));
        assert_ne!(base, combine([("t", &[one][..]), ("u", &[two][..])]));
    }
}
