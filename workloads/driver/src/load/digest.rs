//! The digest of generated data, independent of the order in which it was loaded.

use sha2::{Digest, Sha256};
use twox_hash::xxhash3_128::Hasher;

/// XXH3 (128 bits) of one chunk's rows, in network byte order.
pub type ChunkDigest = [u8; 16];

/// Takes the rows of a chunk. What a generator makes from parameters needs no hash that withstands an attacker; one
/// that does would take a good part of a load's CPU time.
#[derive(Default)]
pub struct ChunkHash(Hasher);

impl ChunkHash {
    pub fn update(&mut self, rows: &[u8]) {
        self.0.write(rows);
    }

    pub fn finish(&self) -> ChunkDigest {
        self.0.finish_128().to_be_bytes()
    }
}

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
        let (mut rows, mut hash) = (data.open(table, number), ChunkHash::default());
        loop {
            let mut written = Vec::new();
            if rows.fill(&mut written, 4096) == 0 {
                break hash.finish();
            }
            hash.update(rows.digested(&written));
        }
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
        let (one, two) = ([1; 16], [2; 16]);
        let base = combine([("t", &[one, two][..])]);
        assert!(base.starts_with("sha256:") && base.len() == 7 + 64);
        assert_eq!(base, combine([("t", &[one, two][..])]));
        assert_ne!(base, combine([("t", &[two, one][..])]));
        assert_ne!(base, combine([("u", &[one, two][..])]));
        assert_ne!(base, combine([("t", &[one][..]), ("u", &[two][..])]));
    }
}
