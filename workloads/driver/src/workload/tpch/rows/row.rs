//! Memory for one row.

use std::io::{Error, ErrorKind, Result, Write};

/// More than any row of the eight tables takes in any form, in bytes.
const LONGEST: usize = 1024;

/// Bytes of one row. Taken up anew for every row, so that no column has to ask for memory.
pub struct OneRow {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Default for OneRow {
    fn default() -> Self {
        OneRow { bytes: [0; LONGEST], length: 0 }
    }
}

impl OneRow {
    pub fn clear(&mut self) {
        self.length = 0;
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// The first `length` of some bytes. All are copied: a copy of a fixed length is one or two instructions.
    #[inline]
    pub fn put_first<const N: usize>(&mut self, bytes: &[u8; N], length: usize) {
        self.bytes[self.length..][..N].copy_from_slice(bytes);
        self.length += length.min(N);
    }

    /// Replaces bytes that were put before.
    #[inline]
    pub fn replace(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..][..bytes.len()].copy_from_slice(bytes);
    }
}

impl Write for OneRow {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.length + bytes.len() > LONGEST {
            return Err(Error::from(ErrorKind::StorageFull));
        }
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
