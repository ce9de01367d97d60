//! Unpacking of an archive into a directory.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use tempfile::TempDir;

use crate::checksums::{self, Checksums, Sha1Writer};
use crate::error::ArchiveError;
use crate::limits::ArchiveLimits;
use crate::members::{Archive, Content, Entry, MemberKind};
use crate::sniff::{HEAD_BYTES, other_format};

/// Name prefix of temporary directories that archives are unpacked into.
pub(crate) const UNPACKING_PREFIX: &str = ".unpacking-";

/// Unpacked package in a temporary directory, which is removed on drop.
#[derive(Debug)]
pub struct UnpackedPackage {
    temporary: TempDir,
    folder: PathBuf,
}

impl UnpackedPackage {
    /// Returns the root directory of the package.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves the package to a nonexistent path on the same file system.
    pub(crate) fn move_to(self, target: &Path) -> io::Result<()> {
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o755))?;
        fs::rename(&self.folder, target)?;
        // An archive without a top-level directory is moved together with the temporary directory.
        match self.temporary.close() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            closed => closed,
        }
    }
}

/// Unpacks an archive below `parent` and verifies its checksums. On failure, all unpacked files are removed.
pub fn unpack(
    mut source: impl Read,
    parent: &Path,
    limits: &ArchiveLimits,
) -> Result<UnpackedPackage, ArchiveError> {
    let mut head = Vec::new();
    source.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    if let Some(format) = other_format(&head) {
        return Err(ArchiveError::OtherFormat { format });
    }
    let source = GzDecoder::new(BufReader::new(io::Cursor::new(head).chain(source)));
    let temporary = tempfile::Builder::new().prefix(UNPACKING_PREFIX).tempdir_in(parent)?;
    let mut unpacking = Unpacking {
        root: temporary.path(),
        limits,
        paths: BTreeSet::new(),
        n_bytes: 0,
        sums: Checksums::new(),
    };
    // Includes headers and padding, so that an archive that consists only of headers is bounded too.
    let stream_bytes_max = limits.total_bytes_max + (limits.n_entries_max as u64 + 4) * 2048;
    let mut archive = Archive::new(Bounded { source, n_remaining: stream_bytes_max });
    let mut members = archive.members()?;
    while let Some((entry, content)) = members.next()? {
        unpacking.member(&entry, content)?;
    }
    archive.finish()?;
    let (prefix, sums) = unpacking.into_package()?;
    let folder = temporary.path().join(&prefix);
    let folder = fs::canonicalize(&folder)?;
    verify(&folder, &prefix, sums, limits)?;
    Ok(UnpackedPackage { temporary, folder })
}

struct Unpacking<'a> {
    root: &'a Path,
    limits: &'a ArchiveLimits,
    /// Paths of the members read up to now; duplicates are rejected.
    paths: BTreeSet<String>,
    n_bytes: u64,
    sums: Checksums,
}

impl Unpacking<'_> {
    fn member(&mut self, entry: &Entry, content: Content<'_, impl Read>) -> Result<(), ArchiveError> {
        let Some(path) = safe_path(&entry.path, self.limits)? else { return Ok(()) };
        if self.paths.len() >= self.limits.n_entries_max {
            return Err(ArchiveError::TooLarge(format!(
                "it has more than {} files",
                self.limits.n_entries_max
            )));
        }
        if !self.paths.insert(path.clone()) && entry.kind == MemberKind::File {
            return Err(ArchiveError::forbidden(&path, "duplicate member"));
        }
        let target = self.root.join(&path);
        let folder = if entry.kind == MemberKind::Folder { Some(&*target) } else { target.parent() };
        if let Some(folder) = folder {
            let folder_error = |error: io::Error| match error.kind() {
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                    ArchiveError::forbidden(&path, "a parent of its path is a file")
                }
                _ => ArchiveError::Environment(error),
            };
            fs::create_dir_all(folder).map_err(folder_error)?;
        }
        if entry.kind == MemberKind::File {
            self.check_size(entry, &path)?;
            let mut out = Sha1Writer::new(new_file(&target, &path, entry.is_executable)?);
            content.copy_to(&mut out)?;
            let (_, sum) = out.finish();
            self.sums.insert(path, sum);
        }
        Ok(())
    }

    fn check_size(&mut self, entry: &Entry, path: &str) -> Result<(), ArchiveError> {
        let limits = self.limits;
        if entry.n_bytes > limits.file_bytes_max {
            let message = format!("`{path}` exceeds {} bytes", limits.file_bytes_max);
            return Err(ArchiveError::TooLarge(message));
        }
        self.n_bytes += entry.n_bytes;
        if self.n_bytes > limits.total_bytes_max {
            let message = format!("its files exceed {} bytes in total", limits.total_bytes_max);
            return Err(ArchiveError::TooLarge(message));
        }
        Ok(())
    }

    /// Finds the root of the package: the only top-level directory, or the top level itself.
    fn into_package(self) -> Result<(String, Checksums), ArchiveError> {
        if self.sums.contains_key("metadata.yaml") {
            return Ok((String::new(), self.sums));
        }
        let tops: BTreeSet<&str> =
            self.paths.iter().map(|path| path.split('/').next().unwrap_or_default()).collect();
        let first = tops.first().map(|top| (*top).to_owned());
        match first.filter(|top| tops.len() == 1 && self.root.join(top).is_dir()) {
            Some(top) => {
                let inside = |(path, sum): (String, String)| {
                    Some((path.strip_prefix(&top)?.strip_prefix('/')?.to_owned(), sum))
                };
                Ok((top.clone(), self.sums.into_iter().filter_map(inside).collect()))
            }
            None => Err(ArchiveError::damaged(
                "it has neither a single top-level directory nor a top-level `metadata.yaml`",
            )),
        }
    }
}

/// Normalizes a path and rejects paths outside the package; `None` for the top level itself.
fn safe_path(member_path: &str, limits: &ArchiveLimits) -> Result<Option<String>, ArchiveError> {
    let forbidden = |reason: &str| Err(ArchiveError::forbidden(member_path, reason));
    if member_path.len() > limits.path_bytes_max {
        return forbidden(&format!("its path exceeds {} bytes", limits.path_bytes_max));
    }
    if member_path.starts_with('/') {
        return forbidden("its path is absolute");
    }
    if member_path.chars().any(|letter| letter.is_control() || letter == '\\') {
        return forbidden("its path contains control characters or backslashes");
    }
    let parts: Vec<&str> = member_path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return forbidden("its path is outside the package");
    }
    if parts.iter().any(|part| part.len() > 255) {
        return forbidden("a name in its path exceeds 255 bytes");
    }
    if parts.len() > limits.depth_max {
        return forbidden(&format!("directories are nested more than {} levels deep", limits.depth_max));
    }
    Ok((!parts.is_empty()).then(|| parts.join("/")))
}

fn new_file(target: &Path, path: &str, is_executable: bool) -> Result<File, ArchiveError> {
    let mode = if is_executable { 0o755 } else { 0o644 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(target);
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory => {
            ArchiveError::forbidden(path, "duplicate member")
        }
        io::ErrorKind::NotADirectory => ArchiveError::forbidden(path, "a parent of its path is a file"),
        _ => ArchiveError::Environment(error),
    })
}

fn verify(
    folder: &Path,
    prefix: &str,
    mut computed: Checksums,
    limits: &ArchiveLimits,
) -> Result<(), ArchiveError> {
    if computed.remove(checksums::FILE).is_none() {
        let message = format!("`{}` is missing", checksums::FILE);
        return Err(ArchiveError::Checksums(vec![message]));
    }
    let mut text = String::new();
    let file = File::open(folder.join(checksums::FILE))?;
    let read = file.take(limits.text_bytes_max).read_to_string(&mut text);
    read.map_err(|_| ArchiveError::Checksums(vec![format!("`{}` is not valid UTF-8", checksums::FILE)]))?;
    let recorded = checksums::parse(&text).map_err(ArchiveError::Checksums)?;
    // Some builders record paths relative to the top of the archive.
    let inner = |(path, sum): (String, String)| {
        let inside = path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
        (inside.map_or_else(|| path.clone(), str::to_owned), sum)
    };
    let is_from_top =
        !prefix.is_empty() && recorded.keys().all(|path| path.starts_with(&format!("{prefix}/")));
    let recorded: Checksums = if is_from_top { recorded.into_iter().map(inner).collect() } else { recorded };
    let differences = checksums::differences(&recorded, &computed);
    if differences.is_empty() { Ok(()) } else { Err(ArchiveError::Checksums(truncate_list(differences))) }
}

/// Bounds the number of reported problems.
fn truncate_list(mut problems: Vec<String>) -> Vec<String> {
    const REPORTED_MAX: usize = 20;
    let n_more = problems.len().saturating_sub(REPORTED_MAX);
    problems.truncate(REPORTED_MAX);
    if n_more > 0 {
        problems.push(format!("and {n_more} more"));
    }
    problems
}

/// Reader that fails after a number of bytes, as protection against decompression bombs.
struct Bounded<R> {
    source: R,
    n_remaining: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.source.read(buffer)?;
        match self.n_remaining.checked_sub(n_read as u64) {
            Some(n_remaining) => self.n_remaining = n_remaining,
            None => {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    "its uncompressed size exceeds the limit",
                ));
            }
        }
        Ok(n_read)
    }
}
