//! What a file is that is no archive of ours.

/// How much of a file has to be seen: a tar says what it is behind its first name.
pub(crate) const HEAD_BYTES: usize = 265;

const GZIP: &[u8] = &[0x1f, 0x8b];

const KNOWN: &[(usize, &[u8], &str)] = &[
    (0, &[0xed, 0xab, 0xee, 0xdb], "an RPM package"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"!<arch>\n", "a Debian package"),
    (0, b"BZh", "something packed with bzip2"),
    (0, &[0xfd, b'7', b'z', b'X', b'Z', 0], "something packed with xz"),
    (0, &[0x28, 0xb5, 0x2f, 0xfd], "something packed with zstd"),
    (257, b"ustar", "a tar that is not compressed"),
];

/// What the file is instead; `None` if it begins as it should.
pub(crate) fn other_format(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(GZIP) {
        return None;
    }
    if head.is_empty() {
        return Some("an empty file");
    }
    let is_it = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..at + magic.len()).is_some_and(|found| found == *magic)
    };
    Some(KNOWN.iter().find(is_it).map_or("something else", |(_, _, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        let mut tar = vec![0u8; HEAD_BYTES];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, expected) in [
            (&[0x1f, 0x8b, 8][..], None),
            (b"", Some("an empty file")),
            (b"PK\x03\x04rest", Some("a zip archive")),
            (&[0xed, 0xab, 0xee, 0xdb, 3], Some("an RPM package")),
            (&tar, Some("a tar that is not compressed")),
            (b"name: x", Some("something else")),
            (b"B", Some("something else")),
        ] {
            assert_eq!(other_format(head), expected, "{head:?}");
        }
    }
}
