//! Members of tar archives: files and folders, with paths of any length.
//!
//! The `tar` crate parses headers and finds member boundaries. Its raw mode is used, because otherwise it reads long
//! names without a bound and follows extended headers that change sizes. Member types that packages may not contain
//! (links, devices) are errors, not skipped.

use std::io::{self, Read, Write};

use stoker_model::ErrorChain;
use tar::{Builder, EntryType, Header, PaxExtensions};

use crate::error::ArchiveError;

const BLOCK: u64 = 512;
/// Maximum size of long names and extended headers.
const LONG_NAME_BYTES_MAX: u64 = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    File,
    Folder,
}

/// Header of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Path as recorded in the archive, not validated.
    pub(crate) path: String,
    pub(crate) kind: MemberKind,
    pub(crate) n_bytes: u64,
    pub(crate) is_executable: bool,
}

/// An archive to read, from its beginning.
pub(crate) struct Archive<R: Read>(tar::Archive<R>);

impl<R: Read> Archive<R> {
    pub(crate) fn new(source: R) -> Self {
        Self(tar::Archive::new(source))
    }

    pub(crate) fn members(&mut self) -> Result<Members<'_, R>, ArchiveError> {
        Ok(Members(self.0.entries().map_err(read_error)?.raw(true)))
    }

    /// Reads to the end of the stream after the last member, so that corruption after the end marker is detected, for
    /// example a gzip checksum mismatch. The marker is two empty blocks, of which reading the members consumed one.
    pub(crate) fn finish(self) -> Result<(), ArchiveError> {
        let n_bytes = io::copy(&mut self.0.into_inner(), &mut io::sink()).map_err(read_error)?;
        if n_bytes < BLOCK { Err(unexpected_end()) } else { Ok(()) }
    }
}

/// Reads members sequentially.
pub(crate) struct Members<'a, R: Read>(tar::Entries<'a, R>);

impl<'a, R: Read> Members<'a, R> {
    /// Returns the next member and its content, or `None` at the end of the archive. Unread content of the member
    /// before it is skipped.
    pub(crate) fn next(&mut self) -> Result<Option<(Entry, Content<'a, R>)>, ArchiveError> {
        let mut long_name = None;
        for next in self.0.by_ref() {
            let mut raw = next.map_err(read_error)?;
            match raw.header().entry_type() {
                EntryType::GNULongName => long_name = Some(text_until_nul(&long_text(&mut raw)?)?),
                EntryType::XHeader => long_name = extended_path(&long_text(&mut raw)?)?.or(long_name),
                // Global extended headers and long link targets are not needed.
                EntryType::XGlobalHeader | EntryType::GNULongLink => drop(long_text(&mut raw)?),
                _ => {
                    let path = match long_name {
                        Some(path) => path,
                        None => text_until_nul(&raw.header().path_bytes())?,
                    };
                    let entry = member(path, raw.header())?;
                    let content = Content { n_remaining: entry.n_bytes, raw };
                    return Ok(Some((entry, content)));
                }
            }
        }
        Ok(None)
    }
}

/// Content of a member.
pub(crate) struct Content<'a, R: Read> {
    raw: tar::Entry<'a, R>,
    n_remaining: u64,
}

impl<R: Read> Content<'_, R> {
    /// Copies the content. An archive that ends before it is an error.
    pub(crate) fn copy_to(mut self, out: &mut impl Write) -> Result<(), ArchiveError> {
        let mut buffer = vec![0; 64 << 10];
        while self.n_remaining > 0 {
            let n_read = self.raw.read(&mut buffer).map_err(read_error)?;
            if n_read == 0 {
                return Err(unexpected_end());
            }
            out.write_all(&buffer[..n_read])?;
            self.n_remaining -= n_read as u64;
        }
        Ok(())
    }
}

fn member(path: String, header: &Header) -> Result<Entry, ArchiveError> {
    // Pre-POSIX tar marks directories only by a trailing slash.
    let is_old_folder = header.as_old().linkflag == [0] && path.ends_with('/');
    let kind = match header.entry_type() {
        EntryType::Directory => MemberKind::Folder,
        EntryType::Regular if is_old_folder => MemberKind::Folder,
        EntryType::Regular | EntryType::Continuous => MemberKind::File,
        EntryType::Link | EntryType::Symlink => {
            return Err(ArchiveError::forbidden(&path, "links are not allowed in packages"));
        }
        EntryType::Char | EntryType::Block | EntryType::Fifo => {
            return Err(ArchiveError::forbidden(&path, "devices and pipes are not allowed in packages"));
        }
        other => {
            let letter = char::from(other.as_byte()).escape_debug();
            return Err(ArchiveError::forbidden(
                &path,
                format!("unsupported archive member type `{letter}`"),
            ));
        }
    };
    let n_bytes = header.entry_size().map_err(read_error)?;
    if kind == MemberKind::Folder && n_bytes != 0 {
        return Err(ArchiveError::damaged("a directory has content"));
    }
    let is_executable = header.mode().map_err(read_error)? & 0o100 != 0;
    Ok(Entry { path, kind, n_bytes, is_executable })
}

/// Returns the content of a long name or extended header. The size is checked before memory is allocated.
fn long_text(raw: &mut tar::Entry<'_, impl Read>) -> Result<Vec<u8>, ArchiveError> {
    if raw.size() > LONG_NAME_BYTES_MAX {
        return Err(ArchiveError::damaged("a long name or extended header exceeds the limit"));
    }
    let mut text = Vec::new();
    raw.read_to_end(&mut text).map_err(read_error)?;
    if (text.len() as u64) < raw.size() { Err(unexpected_end()) } else { Ok(text) }
}

/// Returns the `path` of an extended header. Other keywords are ignored, except sizes: they would contradict
/// the size in the member's header.
fn extended_path(text: &[u8]) -> Result<Option<String>, ArchiveError> {
    let malformed = || ArchiveError::damaged("malformed extended header");
    // The iterator below stops at an empty line, which would hide the records after it.
    if text.starts_with(b"\n") || text.windows(2).any(|pair| pair == b"\n\n") {
        return Err(malformed());
    }
    let mut path = None;
    for record in PaxExtensions::new(text) {
        let record = record.map_err(|_| malformed())?;
        let key = record.key_bytes();
        if key == b"path" {
            path = Some(text_until_nul(record.value_bytes())?);
        } else if key == b"size" || key.starts_with(b"GNU.sparse") {
            return Err(ArchiveError::damaged("sizes in extended headers are not supported"));
        }
    }
    Ok(path)
}

/// Classifies read errors. The input comes from a decompressor, so an error that the system did not report
/// means that the data is corrupt.
fn read_error(error: io::Error) -> ArchiveError {
    match error.kind() {
        _ if error.raw_os_error().is_some() => ArchiveError::Environment(error),
        io::ErrorKind::UnexpectedEof => unexpected_end(),
        io::ErrorKind::FileTooLarge => ArchiveError::TooLarge(ErrorChain(&error).to_string()),
        _ => ArchiveError::damaged(ErrorChain(&error).to_string()),
    }
}

fn unexpected_end() -> ArchiveError {
    ArchiveError::damaged("unexpected end of file")
}

fn text_until_nul(bytes: &[u8]) -> Result<String, ArchiveError> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text = std::str::from_utf8(&bytes[..end]);
    text.map(str::to_owned).map_err(|_| ArchiveError::damaged("a member name is not valid UTF-8"))
}

/// Writes members reproducibly: owners and times are zero.
pub(crate) struct Writer<W: Write>(Builder<W>);

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W) -> Self {
        Self(Builder::new(out))
    }

    /// Adds a member. Fails if the content is shorter than the entry's size.
    pub(crate) fn add(&mut self, entry: &Entry, content: impl Read) -> io::Result<()> {
        let mut header = Header::new_ustar();
        let (entry_type, mode) = match entry.kind {
            MemberKind::Folder => (EntryType::Directory, 0o755),
            MemberKind::File if entry.is_executable => (EntryType::Regular, 0o755),
            MemberKind::File => (EntryType::Regular, 0o644),
        };
        header.set_entry_type(entry_type);
        header.set_mode(mode);
        header.set_size(entry.n_bytes);
        let mut content = content.take(entry.n_bytes);
        self.0.append_data(&mut header, &entry.path, &mut content)?;
        if content.limit() > 0 {
            return Err(io::Error::other("a file changed while it was packed"));
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        self.0.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, n_bytes: u64) -> Entry {
        Entry { path: path.to_owned(), kind: MemberKind::File, n_bytes, is_executable: false }
    }

    fn archive(entries: &[Entry]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for entry in entries {
            writer.add(entry, io::repeat(7)).unwrap();
        }
        writer.finish().unwrap()
    }

    /// Returns a member of any type, with a valid checksum.
    fn raw(name: &str, entry_type: EntryType, content: &[u8]) -> Vec<u8> {
        let mut header = Header::new_ustar();
        header.set_path(name).unwrap();
        header.set_entry_type(entry_type);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        let mut bytes = [&header.as_bytes()[..], content].concat();
        bytes.resize(bytes.len().next_multiple_of(BLOCK as usize), 0);
        bytes
    }

    fn first(bytes: &[u8]) -> Result<Option<Entry>, ArchiveError> {
        Archive::new(bytes).members()?.next().map(|next| next.map(|(entry, _)| entry))
    }

    #[test]
    fn members_round_trip() {
        let entries = [
            Entry { path: "a/".to_owned(), kind: MemberKind::Folder, n_bytes: 0, is_executable: true },
            file("a/b", 5),
            // Split into two fields of the header.
            Entry { is_executable: true, ..file(&("x/".repeat(60) + "y"), 512) },
            // Too long for the header.
            file(&("x/".repeat(200) + "y"), 1),
            file(&"z".repeat(101), 1),
            file("empty", 0),
        ];
        let bytes = archive(&entries);
        assert_eq!(bytes.len() % BLOCK as usize, 0);
        let mut archive = Archive::new(&bytes[..]);
        let mut members = archive.members().unwrap();
        for expected in &entries {
            let (entry, content) = members.next().unwrap().unwrap();
            assert_eq!(entry, *expected);
            let mut read = Vec::new();
            content.copy_to(&mut read).unwrap();
            assert_eq!(read, vec![7; entry.n_bytes as usize]);
        }
        assert!(members.next().unwrap().is_none());
        archive.finish().unwrap();
    }

    #[test]
    fn unread_content_is_skipped() {
        let bytes = archive(&[file("a", 700), file("b", 0)]);
        let mut archive = Archive::new(&bytes[..]);
        let mut members = archive.members().unwrap();
        members.next().unwrap();
        assert_eq!(members.next().unwrap().unwrap().0.path, "b");
    }

    #[test]
    fn shrunk_file_cannot_be_packed() {
        let error = Writer::new(Vec::new()).add(&file("a", 5), &b"1234"[..]).unwrap_err();
        assert!(error.to_string().contains("changed while it was packed"), "{error}");
    }

    #[test]
    fn posix_extended_names_are_read() {
        let (record, short) = (b"20 path=folder/file\n", raw("short", EntryType::Regular, b""));
        let bytes = [raw("x", EntryType::XHeader, record), short].concat();
        assert_eq!(first(&bytes).unwrap().unwrap().path, "folder/file");
    }

    #[test]
    fn hostile_extensions_are_rejected() {
        let large = vec![b'a'; LONG_NAME_BYTES_MAX as usize + 1];
        for (entry_type, content, expected) in [
            (EntryType::XHeader, &b"9 size=1\n"[..], "sizes in extended headers"),
            (EntryType::XHeader, b"22 GNU.sparse.major=1\n", "sizes in extended headers"),
            (EntryType::XHeader, b"nonsense\n", "malformed extended header"),
            (EntryType::XHeader, b"8 path=a\n\n9 size=1\n", "malformed extended header"),
            (EntryType::XHeader, &large, "exceeds the limit"),
            (EntryType::XGlobalHeader, &large, "exceeds the limit"),
            (EntryType::GNULongLink, &large, "exceeds the limit"),
            (EntryType::GNULongName, &large, "exceeds the limit"),
            (EntryType::GNULongName, b"\xff", "not valid UTF-8"),
        ] {
            let member = raw("a", EntryType::Regular, b"");
            let error = first(&[raw("x", entry_type, content), member].concat()).unwrap_err();
            assert!(error.to_string().contains(expected), "{entry_type:?}: {error}");
        }
    }

    #[test]
    fn truncated_archives_are_rejected() {
        let whole = archive(&[file("a", 700)]);
        for n_bytes in [100, 512, 1000, 1536, 1536 + 512] {
            let mut archive = Archive::new(&whole[..n_bytes]);
            let read = || -> Result<(), ArchiveError> {
                let mut members = archive.members()?;
                while let Some((_, content)) = members.next()? {
                    content.copy_to(&mut io::sink())?;
                }
                archive.finish()
            };
            let error = read().unwrap_err();
            assert!(matches!(error, ArchiveError::Corrupt(_)), "{n_bytes}: {error}");
        }
    }
}
