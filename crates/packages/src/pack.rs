//! Packing of a directory into an archive.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use stoker_registry::package::Package;

use crate::ARCHIVE_EXTENSION;
use crate::checksums::{self, Checksums, Sha1Writer};
use crate::error::FolderError;
use crate::limits::ArchiveLimits;
use crate::listing::{has_extension, list};
use crate::members::{Entry, MemberKind, Writer};
use crate::repository::{IndexFile, indexes};

/// Statistics of a packed archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackStats {
    pub n_files: usize,
    /// Uncompressed size.
    pub n_bytes: u64,
}

/// Packs the directory of a plugin and adds indexes of its package repositories.
pub fn pack_plugin(folder: &Path, package: &Package, out: impl Write) -> Result<PackStats, FolderError> {
    pack_with(folder, &package.folder_name(), indexes(folder, &package.plugin)?, out)
}

/// Packs a directory unchanged, under this top-level name.
pub fn pack(folder: &Path, name: &str, out: impl Write) -> Result<PackStats, FolderError> {
    pack_with(folder, name, Vec::new(), out)
}

/// Archives and indexes of earlier builds are excluded. Symbolic links are rejected, because archives must
/// not contain them.
fn pack_with(
    folder: &Path,
    name: &str,
    indexes: Vec<IndexFile>,
    out: impl Write,
) -> Result<PackStats, FolderError> {
    let limits = ArchiveLimits::default();
    let is_generated = |path: &String| indexes.iter().any(|file| file.path == *path);
    let mut members = Vec::new();
    for path in list(folder, &limits)?.into_iter().filter(|path| is_packed(path) && !is_generated(path)) {
        members.push(Member::new(folder, path, &limits)?);
    }
    members.extend(indexes.into_iter().map(Member::generated));
    members.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    let recorded = checksums_of(&members)?;
    let text = checksums::to_text(&recorded);
    // The gzip header contains no file name and no time, so that packing is reproducible.
    let compressed = GzBuilder::new().mtime(0).operating_system(255).write(out, Compression::default());
    let mut archive = Writer::new(compressed);
    let checksums_entry = Entry {
        path: format!("{name}/{}", checksums::FILE),
        kind: MemberKind::File,
        n_bytes: text.len() as u64,
        is_executable: false,
    };
    archive.add(
        &Entry { path: format!("{name}/"), kind: MemberKind::Folder, n_bytes: 0, is_executable: true },
        io::empty(),
    )?;
    archive.add(&checksums_entry, text.as_bytes())?;
    for member in &members {
        let entry = Entry { path: format!("{name}/{}", member.entry.path), ..member.entry.clone() };
        archive.add(&entry, member.open()?)?;
    }
    archive.finish()?.finish()?.flush()?;
    let n_bytes = members.iter().map(|member| member.entry.n_bytes).sum();
    Ok(PackStats { n_files: recorded.len(), n_bytes })
}

/// Packs the directory of a plugin into a file. The file is replaced atomically.
pub fn pack_file(folder: &Path, package: &Package, target: &Path) -> Result<PackStats, FolderError> {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The leading dot excludes the temporary file from the package if it is written to the same directory.
    let mut file = tempfile::Builder::new().prefix(".building-").tempfile_in(parent)?;
    let packed = pack_plugin(folder, package, io::BufWriter::new(file.as_file_mut()))?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(packed)
}

fn is_packed(path: &str) -> bool {
    let is_earlier_build = !path.contains('/') && has_extension(path, ARCHIVE_EXTENSION);
    path != checksums::FILE && !is_earlier_build
}

struct Member {
    source: Source,
    entry: Entry,
}

enum Source {
    File(PathBuf),
    Generated(Vec<u8>),
}

impl Member {
    fn new(folder: &Path, path: String, limits: &ArchiveLimits) -> Result<Self, FolderError> {
        let source = folder.join(&path);
        let unfit =
            |reason: &str| FolderError::NotPackable { path: source.clone(), reason: reason.to_owned() };
        let link_path = source.to_string_lossy().trim_end_matches('/').to_owned();
        let metadata = fs::symlink_metadata(&link_path)
            .map_err(|error| FolderError::Unreadable { path: source.clone(), error })?;
        if metadata.file_type().is_symlink() {
            return Err(unfit("it is a symbolic link; replace it with the file"));
        }
        let kind = match (metadata.is_dir(), metadata.is_file()) {
            (true, _) => MemberKind::Folder,
            (_, true) => MemberKind::File,
            _ => return Err(unfit("it is neither a regular file nor a directory")),
        };
        if path.chars().any(|letter| letter.is_control() || letter == '\\') {
            return Err(unfit("its name contains control characters or backslashes"));
        }
        // Reserve space for the top-level directory name that the archive adds.
        if path.len() + 300 > limits.path_bytes_max {
            return Err(unfit("its path is too long"));
        }
        let n_bytes = if kind == MemberKind::File { metadata.len() } else { 0 };
        if n_bytes > limits.file_bytes_max {
            return Err(unfit(&format!("it exceeds {} bytes", limits.file_bytes_max)));
        }
        let is_executable = metadata.permissions().mode() & 0o100 != 0;
        let source = Source::File(source);
        Ok(Self { source, entry: Entry { path, kind, n_bytes, is_executable } })
    }

    fn generated(file: IndexFile) -> Self {
        let n_bytes = file.bytes.len() as u64;
        let entry = Entry { path: file.path, kind: MemberKind::File, n_bytes, is_executable: false };
        Self { source: Source::Generated(file.bytes), entry }
    }

    fn open(&self) -> Result<Box<dyn Read + '_>, FolderError> {
        match &self.source {
            Source::File(_) if self.entry.kind == MemberKind::Folder => Ok(Box::new(io::empty())),
            Source::File(path) => {
                let unreadable = |error| FolderError::Unreadable { path: path.clone(), error };
                Ok(Box::new(File::open(path).map_err(unreadable)?))
            }
            Source::Generated(bytes) => Ok(Box::new(&bytes[..])),
        }
    }
}

fn checksums_of(members: &[Member]) -> Result<Checksums, FolderError> {
    let mut recorded = Checksums::new();
    for member in members.iter().filter(|member| member.entry.kind == MemberKind::File) {
        let mut writer = Sha1Writer::new(io::sink());
        let copied = io::copy(&mut member.open()?, &mut writer);
        let path = || PathBuf::from(&member.entry.path);
        copied.map_err(|error| FolderError::Unreadable { path: path(), error })?;
        recorded.insert(member.entry.path.clone(), writer.finish().1);
    }
    Ok(recorded)
}
