//! Bytes as people write digests.

use std::fmt::Write as _;

/// Lower-case hexadecimal.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut out, byte| {
        // Writing to a string can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex([0, 9, 0xab, 0xff]), "0009abff");
    }
}
