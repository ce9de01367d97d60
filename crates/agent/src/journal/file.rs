//! Journal file format: framing, checksums, recovery after a crash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use stoker_wire::WireError;
use stoker_wire::record::{JournalEntry, decode_entry, encode_entry};

/// Record header: length (4 bytes, little-endian) and checksum (8 bytes).
const HEAD_BYTES: usize = 4 + 8;

/// Maximum record length. A larger length field is garbage.
const RECORD_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot {operation} the journal `{}`", path.display())]
    File { operation: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "cannot read a record of the journal `{}`; it may have been written by a newer version of the agent",
        path.display()
    )]
    Newer { path: PathBuf, source: WireError },
}

/// Increment by which the file is extended. Syncing a record inside the file takes about half as long as
/// syncing a record that also changes the file size.
const PREALLOCATED_BYTES: usize = 64 << 10;

/// A journal that is open for writing.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    /// Offset after the last complete record.
    length: u64,
    /// Size of the file. The space after the last record is zeroed.
    size: u64,
    /// Whether the file has writes that were not synced.
    is_dirty: bool,
    /// The file must be rewritten before the next append: a partial write could not be truncated, so later
    /// records would be unreachable, or a sync failed, after which the kernel may report unwritten pages as
    /// clean.
    is_broken: bool,
}

/// Result of opening a journal.
#[derive(Debug)]
pub struct Opened {
    pub file: JournalFile,
    pub entries: Vec<JournalEntry>,
    /// Size of the incomplete record at the end that was dropped.
    pub n_bytes_dropped: u64,
}

impl JournalFile {
    /// Opens or creates a journal and reads all records.
    pub fn open(path: &Path) -> Result<Opened, JournalError> {
        let file_error = |operation: &'static str| {
            move |source| JournalError::File { operation, path: path.to_owned(), source }
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path).map_err(file_error("open"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(file_error("read"))?;
        let mut entries = Vec::new();
        let mut at = 0;
        while let Some(payload) = record_at(&bytes[at..]) {
            let text = String::from_utf8_lossy(payload);
            let entry = decode_entry(&text)
                .map_err(|source| JournalError::Newer { path: path.to_owned(), source })?;
            entries.push(entry);
            at += HEAD_BYTES + payload.len();
        }
        let length = at as u64;
        file.set_len(length).map_err(file_error("truncate"))?;
        // The previous agent may have been killed before its last writes were synced.
        file.sync_data().map_err(file_error("sync"))?;
        sync_folder(path).map_err(file_error("sync the directory of"))?;
        let path = path.to_owned();
        let file = Self { path, file, length, size: length, is_dirty: false, is_broken: false };
        Ok(Opened { file, entries, n_bytes_dropped: n_bytes_written(&bytes[at..]) })
    }

    /// Appends all entries or none.
    pub fn append(&mut self, entries: &[JournalEntry], is_synced: bool) -> io::Result<()> {
        if self.is_broken {
            self.rewrite_after_failure()?;
        }
        let bytes: Vec<u8> = entries.iter().flat_map(record_of).collect();
        self.is_dirty = true;
        let written = self.write(&bytes);
        let written = if is_synced { written.and_then(|()| self.sync()) } else { written };
        if written.is_ok() {
            self.length += bytes.len() as u64;
        } else {
            self.size = self.length;
            self.is_broken |= self.file.set_len(self.length).is_err();
        }
        written
    }

    /// Syncs entries that were appended without a sync.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.is_broken {
            return self.rewrite_after_failure();
        }
        if !self.is_dirty {
            return Ok(());
        }
        let synced = self.file.sync_data();
        self.is_dirty = synced.is_err();
        self.is_broken = synced.is_err();
        synced
    }

    /// Copies all records to a new file: after a failed sync only new pages are certain to reach the disk.
    fn rewrite_after_failure(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; self.length as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        let mut at = 0;
        while let Some(payload) = record_at(&bytes[at..]) {
            at += HEAD_BYTES + payload.len();
        }
        if at < bytes.len() {
            return Err(io::Error::other("written records are corrupt"));
        }
        self.replace(&bytes)
    }

    /// Writes bytes after the last record and extends the file ahead if necessary.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.length + bytes.len() as u64;
        if end > self.size {
            let missing = (end - self.size) as usize;
            self.file.write_all_at(&vec![0; missing.next_multiple_of(PREALLOCATED_BYTES)], self.size)?;
            self.size += missing.next_multiple_of(PREALLOCATED_BYTES) as u64;
        }
        self.file.write_all_at(bytes, self.length)
    }

    /// Replaces the content atomically: after a crash the journal has the old entries or the new ones.
    pub fn rewrite(&mut self, entries: &[JournalEntry]) -> io::Result<()> {
        let bytes: Vec<u8> = entries.iter().flat_map(record_of).collect();
        self.replace(&bytes)
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.path.with_extension("new");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&temporary, &self.path)?;
        self.file = file;
        self.length = bytes.len() as u64;
        self.size = self.length;
        self.is_dirty = false;
        // Writes go to the new file from here on, but until the directory is synced a power loss may restore the
        // old one.
        self.is_broken = true;
        sync_folder(&self.path)?;
        self.is_broken = false;
        Ok(())
    }

    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

fn record_of(entry: &JournalEntry) -> Vec<u8> {
    let payload = encode_entry(entry);
    let mut record = Vec::with_capacity(HEAD_BYTES + payload.len());
    record.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    record.extend_from_slice(&checksum(payload.as_bytes()));
    record.extend_from_slice(payload.as_bytes());
    record
}

/// Returns the payload of the first record if it is complete and its checksum matches.
fn record_at(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let length = u32::from_le_bytes(*length) as usize;
    // A length of zero is preallocated space, or blocks that a file system zeroed after a crash.
    let payload = rest.get(..length).filter(|_| (1..=RECORD_BYTES_MAX).contains(&length))?;
    (checksum(payload) == *sum).then_some(payload)
}

/// Returns the number of bytes after the last record, without trailing preallocated zeros.
fn n_bytes_written(bytes: &[u8]) -> u64 {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1)
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(bytes);
    let mut sum = [0; 8];
    sum.copy_from_slice(&hash.as_bytes()[..8]);
    sum
}

/// Syncs the directory: creation and renaming of a file are durable only after this.
fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stoker_engine::session::AttemptKey;
    use stoker_engine::session::agent::Record;
    use stoker_model::{InstanceIdx, RunId};
    use stoker_testkit::TempFolder;

    use super::*;

    fn entry(n: u32) -> JournalEntry {
        JournalEntry::Session(Record::Acknowledged {
            key: AttemptKey { run: RunId(1), instance: InstanceIdx::new(n), attempt: 1 },
        })
    }

    fn entries(n: u32) -> Vec<JournalEntry> {
        (0..n).map(entry).collect()
    }

    #[test]
    fn written_entries_are_read_back() {
        let folder = TempFolder::new();
        let path = folder.file("journal");
        let mut opened = JournalFile::open(&path).unwrap();
        assert_eq!(opened.entries, []);
        opened.file.append(&entries(3), true).unwrap();
        opened.file.append(&[entry(3)], false).unwrap();
        let mut opened = JournalFile::open(&path).unwrap();
        assert_eq!(opened.entries, entries(4));
        opened.file.rewrite(&entries(2)).unwrap();
        opened.file.append(&[entry(2)], true).unwrap();
        let opened = JournalFile::open(&path).unwrap();
        assert_eq!((opened.entries, opened.n_bytes_dropped), (entries(3), 0));
    }

    #[test]
    fn file_is_preallocated() {
        let folder = TempFolder::new();
        let path = folder.file("journal");
        let mut journal = JournalFile::open(&path).unwrap().file;
        let size = || fs::metadata(&path).unwrap().len();
        let mut sizes = std::collections::BTreeSet::new();
        let mut n_written = 0;
        while journal.len() < 3 * PREALLOCATED_BYTES as u64 {
            journal.append(&[entry(n_written)], false).unwrap();
            n_written += 1;
            assert!(size() >= journal.len());
            sizes.insert(size());
        }
        assert_eq!(sizes.len(), 4, "{sizes:?}");
        let large = vec![entry(n_written); 2 * PREALLOCATED_BYTES / 50];
        journal.append(&large, true).unwrap();
        let opened = JournalFile::open(&path).unwrap();
        assert_eq!(opened.entries.len(), n_written as usize + large.len());
        assert_eq!(opened.n_bytes_dropped, 0, "preallocated space is not an incomplete record");
        assert_eq!(size(), journal.len(), "opening truncates preallocated space");
    }

    #[test]
    fn unreadable_records_are_an_error() {
        let folder = TempFolder::new();
        let path = folder.file("journal");
        let payload = br#"{"kind":"dreamt"}"#;
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes.extend(checksum(payload));
        bytes.extend(payload);
        fs::write(&path, bytes).unwrap();
        let error = JournalFile::open(&path).unwrap_err().to_string();
        assert!(error.contains("newer version"), "{error}");
    }

    #[test]
    fn full_disk_leaves_the_journal_unchanged() {
        let folder = TempFolder::new();
        let path = folder.file("journal");
        let mut opened = JournalFile::open(&path).unwrap();
        opened.file.append(&entries(2), true).unwrap();
        // `/dev/full` fails every write.
        let full = OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
        let real = std::mem::replace(&mut opened.file.file, full);
        let error = opened.file.append(&[entry(2)], true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        opened.file.file = real;
        opened.file.append(&[entry(2)], true).unwrap();
        assert_eq!(JournalFile::open(&path).unwrap().entries, entries(3));
    }

    #[test]
    fn failed_sync_rewrites_the_journal() {
        let folder = TempFolder::new();
        let path = folder.file("journal");
        let mut journal = JournalFile::open(&path).unwrap().file;
        journal.append(&entries(2), false).unwrap();
        let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&path).unwrap());
        let before = inode();
        // `/dev/null` accepts writes but cannot be synced.
        let unsyncable = || OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        let real = std::mem::replace(&mut journal.file, unsyncable());
        journal.sync().unwrap_err();
        journal.append(&[entry(2)], true).unwrap_err();
        journal.file = real;
        journal.sync().unwrap();
        assert_ne!(inode(), before, "a second sync alone would falsely succeed");
        assert_eq!(JournalFile::open(&path).unwrap().entries, entries(2));
        let real = std::mem::replace(&mut journal.file, unsyncable());
        journal.append(&[entry(2)], true).unwrap_err();
        journal.file = real;
        journal.append(&[entry(3)], true).unwrap();
        assert_eq!(JournalFile::open(&path).unwrap().entries, [entry(0), entry(1), entry(3)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn torn_end_loses_only_the_records_behind_it(cut in 0..400_usize, garbage in prop::collection::vec(any::<u8>(), 0..40)) {
            let folder = TempFolder::new();
            let path = folder.file("journal");
            let mut opened = JournalFile::open(&path).unwrap();
            opened.file.append(&entries(4), false).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(opened.file.len() as usize);
            let n_each = bytes.len() / 4;
            let cut = cut.min(bytes.len());
            bytes.truncate(cut);
            bytes.extend(&garbage);
            fs::write(&path, &bytes).unwrap();
            let mut opened = JournalFile::open(&path).unwrap();
            prop_assert_eq!(&opened.entries, &entries((cut / n_each) as u32));
            opened.file.append(&[entry(9)], true).unwrap();
            let again = JournalFile::open(&path).unwrap();
            prop_assert_eq!(again.entries.last(), Some(&entry(9)));
            prop_assert_eq!(again.n_bytes_dropped, 0);
        }
    }
}
