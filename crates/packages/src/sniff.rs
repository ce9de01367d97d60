//! Detection of other file formats, for error messages.

/// Number of bytes needed: the tar magic is at offset 257.
pub(crate) const HEAD_BYTES: usize = 265;

const GZIP: &[u8] = &[0x1f, 0x8b];

const FORMATS: &[(usize, &[u8], &str)] = &[
    (0, &[0xed, 0xab, 0xee, 0xdb], "an RPM package"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"!<arch>\n", "a Debian package"),
    (0, b"BZh", "bzip2-compressed data"),
    (0, &[0xfd, b'7', b'z', b'X', b'Z', 0], "xz-compressed data"),
    (0, &[0x28, 0xb5, 0x2f, 0xfd], "zstd-compressed data"),
    (257, b"ustar", "an uncompressed tar archive"),
];

/// Describes the format of a file that is not gzip-compressed; `None` for gzip.
pub(crate) fn other_format(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(GZIP) {
        return None;
    }
    if head.is_empty() {
        return Some("an empty file");
    }
    let matches = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..at + magic.len()).is_some_and(|bytes| bytes == *magic)
    };
    Some(FORMATS.iter().find(matches).map_or("an unknown format", |(_, _, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected() {
        let mut tar = vec![0u8; HEAD_BYTES];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, expected) in [
            (&[0x1f, 0x8b, 8][..], None),
            (b"", Some("an empty file")),
            (b"PK\x03\x04rest", Some("a zip archive")),
            (&[0xed, 0xab, 0xee, 0xdb, 3], Some("an RPM package")),
            (&tar, Some("an uncompressed tar archive")),
            (b"name: x", Some("an unknown format")),
            (b"B", Some("an unknown format")),
        ] {
            assert_eq!(other_format(head), expected, "{head:?}");
        }
    }
}
