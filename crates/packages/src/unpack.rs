//! From an archive to a folder.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use tempfile::TempDir;

use crate::checksums::{self, Checksums, Summing};
use crate::error::ArchiveError;
use crate::limits::Limits;
use crate::sniff::{HEAD_BYTES, other_format};
use crate::tar::{Entry, Kind, Reader};

/// How folders begin that archives are unpacked in.
pub(crate) const UNPACKING: &str = ".unpacking-";

/// A package that was unpacked, in a folder that goes away with this value.
#[derive(Debug)]
pub struct Unpacked {
    temporary: TempDir,
    folder: PathBuf,
}

impl Unpacked {
    /// The root of the package.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves the package to a path that nothing is at, on the same disk.
    pub(crate) fn move_to(self, target: &Path) -> io::Result<()> {
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o755))?;
        fs::rename(&self.folder, target)?;
        // An archive without a folder of its own has moved as a whole, and nothing is left to remove.
        match self.temporary.close() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            closed => closed,
        }
    }
}

/// Unpacks an archive below `parent` and checks its sums. On failure nothing is left.
pub fn unpack(mut source: impl Read, parent: &Path, limits: &Limits) -> Result<Unpacked, ArchiveError> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    if let Some(found) = other_format(&head) {
        return Err(ArchiveError::OtherFormat { found });
    }
    let source = GzDecoder::new(BufReader::new(io::Cursor::new(head).chain(source)));
    let temporary = tempfile::Builder::new().prefix(UNPACKING).tempdir_in(parent)?;
    let mut unpacking = Unpacking {
        root: temporary.path(),
        limits,
        paths: BTreeSet::new(),
        n_bytes: 0,
        sums: Checksums::new(),
    };
    // Headers and padding count, too, so that an archive of nothing but headers ends.
    let stream_bytes_max = limits.total_bytes_max + (limits.n_entries_max as u64 + 4) * 2048;
    let mut members = Reader::new(Bounded { source, n_left: stream_bytes_max });
    while let Some(entry) = members.next()? {
        unpacking.member(&entry, &mut members)?;
    }
    members.finish()?;
    let (prefix, sums) = unpacking.into_package()?;
    let folder = temporary.path().join(&prefix);
    let folder = fs::canonicalize(&folder)?;
    verify(&folder, &prefix, sums, limits)?;
    Ok(Unpacked { temporary, folder })
}

struct Unpacking<'a> {
    root: &'a Path,
    limits: &'a Limits,
    /// Members so far; none may come twice.
    paths: BTreeSet<String>,
    n_bytes: u64,
    sums: Checksums,
}

impl Unpacking<'_> {
    fn member(&mut self, entry: &Entry, members: &mut Reader<impl Read>) -> Result<(), ArchiveError> {
        let Some(path) = safe_path(&entry.path, self.limits)? else { return Ok(()) };
        if self.paths.len() >= self.limits.n_entries_max {
            return Err(ArchiveError::TooLarge(format!("more than {} files", self.limits.n_entries_max)));
        }
        if !self.paths.insert(path.clone()) && entry.kind == Kind::File {
            return Err(ArchiveError::forbidden(&path, "it is there twice"));
        }
        let target = self.root.join(&path);
        let folder = if entry.kind == Kind::Folder { Some(&*target) } else { target.parent() };
        if let Some(folder) = folder {
            let in_the_way = |error: io::Error| match error.kind() {
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                    ArchiveError::forbidden(&path, "a file is in the way of its folder")
                }
                _ => ArchiveError::Environment(error),
            };
            fs::create_dir_all(folder).map_err(in_the_way)?;
        }
        if entry.kind == Kind::File {
            self.charge(entry, &path)?;
            let mut out = Summing::new(new_file(&target, &path, entry.is_executable)?);
            members.content(&mut out)?;
            let (_, sum) = out.finish();
            self.sums.insert(path, sum);
        }
        Ok(())
    }

    fn charge(&mut self, entry: &Entry, path: &str) -> Result<(), ArchiveError> {
        let limits = self.limits;
        if entry.n_bytes > limits.file_bytes_max {
            let message = format!("`{path}` has more than {} bytes", limits.file_bytes_max);
            return Err(ArchiveError::TooLarge(message));
        }
        self.n_bytes += entry.n_bytes;
        if self.n_bytes > limits.total_bytes_max {
            let message = format!("its files have more than {} bytes", limits.total_bytes_max);
            return Err(ArchiveError::TooLarge(message));
        }
        Ok(())
    }

    /// Where the package begins: in the one folder of the archive, or at its top.
    fn into_package(self) -> Result<(String, Checksums), ArchiveError> {
        if self.sums.contains_key("metadata.yaml") {
            return Ok((String::new(), self.sums));
        }
        let tops: BTreeSet<&str> =
            self.paths.iter().map(|path| path.split('/').next().unwrap_or_default()).collect();
        let only = tops.first().map(|top| (*top).to_owned());
        match only.filter(|top| tops.len() == 1 && self.root.join(top).is_dir()) {
            Some(top) => {
                let inside = |(path, sum): (String, String)| {
                    Some((path.strip_prefix(&top)?.strip_prefix('/')?.to_owned(), sum))
                };
                Ok((top.clone(), self.sums.into_iter().filter_map(inside).collect()))
            }
            None => {
                Err(ArchiveError::damaged("it holds neither one folder nor a `metadata.yaml` at its top"))
            }
        }
    }
}

/// A path that stays inside, in one spelling; `None` for the top itself.
fn safe_path(written: &str, limits: &Limits) -> Result<Option<String>, ArchiveError> {
    let forbidden = |reason: &str| Err(ArchiveError::forbidden(written, reason));
    if written.len() > limits.path_bytes_max {
        return forbidden(&format!("its path has more than {} bytes", limits.path_bytes_max));
    }
    if written.starts_with('/') {
        return forbidden("its path begins at the root of the disk");
    }
    if written.chars().any(|letter| letter.is_control() || letter == '\\') {
        return forbidden("its path has characters that do not belong there");
    }
    let parts: Vec<&str> = written.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return forbidden("its path leads out of the package");
    }
    if parts.iter().any(|part| part.len() > 255) {
        return forbidden("a name in its path has more than 255 bytes");
    }
    if parts.len() > limits.depth_max {
        return forbidden(&format!("more than {} folders are inside of each other", limits.depth_max));
    }
    Ok((!parts.is_empty()).then(|| parts.join("/")))
}

fn new_file(target: &Path, path: &str, is_executable: bool) -> Result<File, ArchiveError> {
    let mode = if is_executable { 0o755 } else { 0o644 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(target);
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory => {
            ArchiveError::forbidden(path, "it is there twice")
        }
        io::ErrorKind::NotADirectory => ArchiveError::forbidden(path, "a file is in the way of its folder"),
        _ => ArchiveError::Environment(error),
    })
}

fn verify(folder: &Path, prefix: &str, mut found: Checksums, limits: &Limits) -> Result<(), ArchiveError> {
    if found.remove(checksums::FILE).is_none() {
        let message = format!("there is no `{}`", checksums::FILE);
        return Err(ArchiveError::Checksums(vec![message]));
    }
    let mut text = String::new();
    let file = File::open(folder.join(checksums::FILE))?;
    let read = file.take(limits.text_bytes_max).read_to_string(&mut text);
    read.map_err(|_| ArchiveError::Checksums(vec![format!("`{}` is no text", checksums::FILE)]))?;
    let promised = checksums::parse(&text).map_err(ArchiveError::Checksums)?;
    // Some builders count paths from the top of the archive.
    let inner = |(path, sum): (String, String)| {
        let inside = path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
        (inside.map_or_else(|| path.clone(), str::to_owned), sum)
    };
    let is_from_top =
        !prefix.is_empty() && promised.keys().all(|path| path.starts_with(&format!("{prefix}/")));
    let promised: Checksums = if is_from_top { promised.into_iter().map(inner).collect() } else { promised };
    let differences = checksums::differences(&promised, &found);
    if differences.is_empty() { Ok(()) } else { Err(ArchiveError::Checksums(few(differences))) }
}

/// Somebody who packs twenty thousand wrong files wants to read some of their names.
fn few(mut problems: Vec<String>) -> Vec<String> {
    const TOLD_MAX: usize = 20;
    let n_more = problems.len().saturating_sub(TOLD_MAX);
    problems.truncate(TOLD_MAX);
    if n_more > 0 {
        problems.push(format!("and {n_more} more"));
    }
    problems
}

/// Ends with an error where a bomb would go on.
struct Bounded<R> {
    source: R,
    n_left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.source.read(buffer)?;
        match self.n_left.checked_sub(n_read as u64) {
            Some(n_left) => self.n_left = n_left,
            None => {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    "it unpacks to more than is allowed",
                ));
            }
        }
        Ok(n_read)
    }
}
