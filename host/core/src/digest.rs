//! Digests of texts and files.

use ring::digest::{SHA256, digest};

/// SHA-256 of bytes.
pub fn sha256(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    let mut sum = [0; 32];
    sum.copy_from_slice(digest(&SHA256, bytes.as_ref()).as_ref());
    sum
}

#[cfg(test)]
mod tests {
    use super::sha256;
    use crate::hex;

    #[test]
    fn is_the_standard_digest() {
        // FIPS 180-4's example.
        assert_eq!(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
