//! Minimal tar reader and writer: files and directories, with paths of any length.
//!
//! The reader does no disk I/O. Member types that packages may not contain (links, devices) are errors, not
//! skipped.

use std::io::{self, Read, Write};

use crate::error::ArchiveError;

const BLOCK: usize = 512;
/// Bound on long names and extended headers.
const LONG_NAME_BYTES_MAX: u64 = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
}

/// Header of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Path as recorded in the archive, not validated.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) n_bytes: u64,
    pub(crate) is_executable: bool,
}

/// Reads members sequentially. Unread content is skipped by the next call of [`Reader::next`].
pub(crate) struct Reader<R> {
    source: R,
    /// Unread content of the current member, and padding of its last block.
    n_remaining: u64,
    n_padding: u64,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, n_remaining: 0, n_padding: 0 }
    }

    /// Returns the next member, or `None` at the end-of-archive marker. A missing marker is an error.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>, ArchiveError> {
        self.skip_rest()?;
        let mut long_name: Option<String> = None;
        loop {
            let header = self.block()?;
            if header.iter().all(|byte| *byte == 0) {
                return Ok(None);
            }
            require_checksum(&header)?;
            let name = header_name(&header)?;
            let n_bytes = number(&header[124..136])?;
            let kind = header[156];
            match kind {
                b'L' => long_name = Some(self.long_name(n_bytes)?),
                b'x' => long_name = self.extended_path(n_bytes)?.or(long_name),
                // Global extended headers and long link targets are not needed.
                b'g' | b'K' => self.skip_header(n_bytes)?,
                _ => {
                    let path = long_name.unwrap_or(name);
                    return self.member(path, kind, n_bytes, &header).map(Some);
                }
            }
        }
    }

    fn member(
        &mut self,
        path: String,
        kind: u8,
        n_bytes: u64,
        header: &[u8; BLOCK],
    ) -> Result<Entry, ArchiveError> {
        let kind = match kind {
            // Pre-POSIX tar marks directories only by a trailing slash.
            0 if path.ends_with('/') => Kind::Folder,
            b'0' | 0 | b'7' => Kind::File,
            b'5' => Kind::Folder,
            b'1' | b'2' => return Err(ArchiveError::forbidden(&path, "links are not allowed in packages")),
            b'3' | b'4' | b'6' => {
                return Err(ArchiveError::forbidden(&path, "devices and pipes are not allowed in packages"));
            }
            other => {
                let reason = format!("unsupported member type `{}`", char::from(other).escape_debug());
                return Err(ArchiveError::forbidden(&path, reason));
            }
        };
        if kind == Kind::Folder && n_bytes != 0 {
            return Err(ArchiveError::damaged("a directory has content"));
        }
        let mode = number(&header[100..108])?;
        self.start_content(n_bytes);
        Ok(Entry { path, kind, n_bytes, is_executable: mode & 0o100 != 0 })
    }

    /// Copies the content of the current member.
    pub(crate) fn content(&mut self, out: &mut impl Write) -> Result<(), ArchiveError> {
        let mut buffer = vec![0; 64 << 10];
        while self.n_remaining > 0 {
            let n_chunk = self.n_remaining.min(buffer.len() as u64) as usize;
            self.read_exactly(n_chunk, &mut buffer)?;
            out.write_all(&buffer[..n_chunk])?;
            self.n_remaining -= n_chunk as u64;
        }
        Ok(())
    }

    /// Reads to the end of the stream, so that corruption after the end marker is detected, for example a
    /// gzip checksum mismatch.
    pub(crate) fn finish(mut self) -> Result<(), ArchiveError> {
        io::copy(&mut self.source, &mut io::sink()).map(drop).map_err(read_error)
    }

    fn start_content(&mut self, n_bytes: u64) {
        self.n_remaining = n_bytes;
        self.n_padding = n_bytes.next_multiple_of(BLOCK as u64) - n_bytes;
    }

    fn skip_rest(&mut self) -> Result<(), ArchiveError> {
        self.content(&mut io::sink())?;
        let padding = std::mem::take(&mut self.n_padding) as usize;
        self.read_exactly(padding, &mut [0; BLOCK])
    }

    fn skip_header(&mut self, n_bytes: u64) -> Result<(), ArchiveError> {
        self.start_content(n_bytes.min(LONG_NAME_BYTES_MAX + 1));
        if n_bytes > LONG_NAME_BYTES_MAX {
            return Err(ArchiveError::damaged("a long name or extended header exceeds the limit"));
        }
        self.skip_rest()
    }

    fn long_text(&mut self, n_bytes: u64) -> Result<Vec<u8>, ArchiveError> {
        if n_bytes > LONG_NAME_BYTES_MAX {
            return Err(ArchiveError::damaged("a long name or extended header exceeds the limit"));
        }
        self.start_content(n_bytes);
        let mut text = Vec::new();
        self.content(&mut text)?;
        self.skip_rest()?;
        Ok(text)
    }

    fn long_name(&mut self, n_bytes: u64) -> Result<String, ArchiveError> {
        text_until_nul(&self.long_text(n_bytes)?)
    }

    /// Parses an extended header, `<length> path=<path>\n`. Other keywords are ignored, except sizes: they
    /// would contradict the size in the member's header.
    fn extended_path(&mut self, n_bytes: u64) -> Result<Option<String>, ArchiveError> {
        let text = self.long_text(n_bytes)?;
        let mut rest = &text[..];
        let mut path = None;
        while !rest.is_empty() {
            let record = || -> Option<(usize, &[u8])> {
                let at = rest.iter().position(|byte| *byte == b' ')?;
                let length: usize = std::str::from_utf8(&rest[..at]).ok()?.parse().ok()?;
                let record = rest.get(at + 1..length)?.strip_suffix(b"\n")?;
                Some((length, record))
            };
            let (length, record) =
                record().ok_or_else(|| ArchiveError::damaged("malformed extended header"))?;
            if let Some(name) = record.strip_prefix(b"path=") {
                path = Some(text_until_nul(name)?);
            } else if record.starts_with(b"size=") || record.starts_with(b"GNU.sparse") {
                return Err(ArchiveError::damaged("sizes in extended headers are not supported"));
            }
            rest = &rest[length..];
        }
        Ok(path)
    }

    fn block(&mut self) -> Result<[u8; BLOCK], ArchiveError> {
        let mut block = [0; BLOCK];
        self.read_exactly(BLOCK, &mut block)?;
        Ok(block)
    }

    fn read_exactly(&mut self, n_bytes: usize, buffer: &mut [u8]) -> Result<(), ArchiveError> {
        self.source.read_exact(&mut buffer[..n_bytes]).map_err(read_error)
    }
}

/// Classifies read errors. The input comes through a decompressor, so most of them mean that the data is
/// corrupt.
fn read_error(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::damaged("unexpected end of file"),
        io::ErrorKind::FileTooLarge => ArchiveError::TooLarge(error.to_string()),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => ArchiveError::damaged(error.to_string()),
        _ => ArchiveError::Environment(error),
    }
}

fn require_checksum(header: &[u8; BLOCK]) -> Result<(), ArchiveError> {
    if number(&header[148..156])? == u64::from(sum_of(header)) {
        return Ok(());
    }
    Err(ArchiveError::damaged("a tar header has a wrong checksum"))
}

/// Header checksum; the checksum field itself counts as spaces.
fn sum_of(header: &[u8; BLOCK]) -> u32 {
    let bytes = header.iter().enumerate();
    bytes.map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) }).sum()
}

/// Parses an octal number. The base-256 form, for files over 8 GiB, is not supported.
fn number(field: &[u8]) -> Result<u64, ArchiveError> {
    let text: Vec<u8> = field.iter().copied().take_while(|byte| *byte != 0).collect();
    let digits = text.trim_ascii();
    let is_octal = digits.iter().all(|byte| (b'0'..=b'7').contains(byte));
    if !is_octal {
        return Err(ArchiveError::damaged("a tar header has an invalid number"));
    }
    Ok(digits.iter().fold(0, |value, digit| value << 3 | u64::from(digit - b'0')))
}

fn header_name(header: &[u8; BLOCK]) -> Result<String, ArchiveError> {
    let name = text_until_nul(&header[..100])?;
    let has_prefix = &header[257..263] == b"ustar\0";
    let prefix = if has_prefix { text_until_nul(&header[345..500])? } else { String::new() };
    Ok(if prefix.is_empty() { name } else { format!("{prefix}/{name}") })
}

fn text_until_nul(bytes: &[u8]) -> Result<String, ArchiveError> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text = std::str::from_utf8(&bytes[..end]);
    text.map(str::to_owned).map_err(|_| ArchiveError::damaged("a member name is not valid UTF-8"))
}

/// Writes members reproducibly.
pub(crate) struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out }
    }

    /// Adds a member. Fails if the content is shorter than the entry's size.
    pub(crate) fn add(&mut self, entry: &Entry, content: &mut impl Read) -> io::Result<()> {
        if entry.path.len() > 100 {
            let mut name = entry.path.clone().into_bytes();
            name.push(0);
            self.out.write_all(&header("././@LongLink", b'L', name.len() as u64, 0o644))?;
            self.write_padded(&mut &name[..], name.len() as u64)?;
        }
        let mode = if entry.is_executable || entry.kind == Kind::Folder { 0o755 } else { 0o644 };
        let kind = if entry.kind == Kind::Folder { b'5' } else { b'0' };
        self.out.write_all(&header(&entry.path, kind, entry.n_bytes, mode))?;
        self.write_padded(content, entry.n_bytes)
    }

    fn write_padded(&mut self, content: &mut impl Read, n_bytes: u64) -> io::Result<()> {
        let n_copied = io::copy(&mut content.take(n_bytes), &mut self.out)?;
        if n_copied != n_bytes {
            return Err(io::Error::other("a file changed while it was packed"));
        }
        let padding = n_bytes.next_multiple_of(BLOCK as u64) - n_bytes;
        self.out.write_all(&[0; BLOCK][..padding as usize])
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        Ok(self.out)
    }
}

/// Builds a header. Owners and times are zero, so that packing is reproducible.
fn header(path: &str, kind: u8, n_bytes: u64, mode: u32) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let name = &path.as_bytes()[..path.len().min(100)];
    header[..name.len()].copy_from_slice(name);
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{n_bytes:011o}"));
    put(136, "00000000000");
    put(257, "ustar");
    put(263, "00");
    header[156] = kind;
    let sum = format!("{:06o}\0 ", sum_of(&header));
    header[148..156].copy_from_slice(sum.as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, n_bytes: u64) -> Entry {
        Entry { path: path.to_owned(), kind: Kind::File, n_bytes, is_executable: false }
    }

    #[test]
    fn members_round_trip() {
        let long = "x/".repeat(120) + "y";
        let entries = [
            Entry { path: "a/".to_owned(), kind: Kind::Folder, n_bytes: 0, is_executable: true },
            file("a/b", 5),
            Entry { is_executable: true, ..file(&long, 512) },
            file("empty", 0),
        ];
        let mut writer = Writer::new(Vec::new());
        for entry in &entries {
            writer.add(entry, &mut io::repeat(7)).unwrap();
        }
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes.len() % BLOCK, 0);
        let mut reader = Reader::new(&bytes[..]);
        for entry in &entries {
            assert_eq!(reader.next().unwrap().as_ref(), Some(entry));
            let mut content = Vec::new();
            reader.content(&mut content).unwrap();
            assert_eq!(content, vec![7; entry.n_bytes as usize]);
        }
        assert_eq!(reader.next().unwrap(), None);
        reader.finish().unwrap();
    }

    #[test]
    fn unread_content_is_skipped() {
        let mut writer = Writer::new(Vec::new());
        writer.add(&file("a", 700), &mut io::repeat(1)).unwrap();
        writer.add(&file("b", 0), &mut io::empty()).unwrap();
        let bytes = writer.finish().unwrap();
        let mut reader = Reader::new(&bytes[..]);
        reader.next().unwrap();
        assert_eq!(reader.next().unwrap().unwrap().path, "b");
    }

    #[test]
    fn posix_extended_names_are_read() {
        let name = "folder/file";
        let record = format!("20 path={name}\n");
        assert_eq!(record.len(), 20, "{record}");
        let mut bytes = header("x", b'x', record.len() as u64, 0o644).to_vec();
        bytes.extend(record.as_bytes());
        bytes.resize(2 * BLOCK, 0);
        bytes.extend(header("short", b'0', 0, 0o644));
        bytes.extend([0; 2 * BLOCK]);
        assert_eq!(Reader::new(&bytes[..]).next().unwrap().unwrap().path, name);
    }
}
