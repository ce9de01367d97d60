//! Unpacking of archives.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use nix::fcntl::RenameFlags;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::super::{ArchiveToUnpack, HostError, StopSignal};
use super::{files, network};

/// Verifies an archive, unpacks it beside its directory, and exchanges both.
pub(super) fn unpack(archive: &ArchiveToUnpack, stop: &StopSignal) -> Result<(), HostError> {
    let dest = &archive.dest;
    let failed = |error: io::Error| HostError::file("unpack the archive to", dest, &files::reason(&error));
    let Some(parent) = dest.parent() else {
        return Err(HostError::file("unpack the archive to", dest, &"it has no parent directory"));
    };
    files::create_folders(parent, 0o755)?;
    refuse_foreign(dest)?;
    // Beside the directory: a rename cannot cross file systems.
    let folder = tempfile::Builder::new().prefix(".stoker-").tempdir_in(parent).map_err(failed)?;
    let mut file = tempfile::tempfile_in(folder.path()).map_err(failed)?;
    let sha256 = fetch(archive, &mut file, stop)?;
    if sha256 != archive.sha256 {
        return Err(HostError::Other(format!(
            "the archive `{}` has the digest sha256:{sha256}, not sha256:{}",
            archive.source, archive.sha256
        )));
    }
    let content = folder.path().join("content");
    fs::create_dir(&content).map_err(failed)?;
    extract(file, &content).map_err(failed)?;
    let root = strip(&content, archive.strip).map_err(failed)?;
    fs::write(root.join(ArchiveToUnpack::MARKER), archive.marker()).map_err(failed)?;
    files::set_tree_owner(&root, &archive.owner)?;
    // Without it a power failure could leave the marker and lose files.
    let synced = File::open(&root).and_then(|opened| nix::unistd::syncfs(opened).map_err(io::Error::from));
    synced.map_err(failed)?;
    replace(&root, dest, &folder).map_err(failed)
}

/// Refuses a directory with content that no archive brought.
fn refuse_foreign(dest: &Path) -> Result<(), HostError> {
    let is_empty = match fs::read_dir(dest) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(HostError::file("read", dest, &files::reason(&error))),
    };
    if is_empty || dest.join(ArchiveToUnpack::MARKER).exists() {
        return Ok(());
    }
    let reason = "it has content that no archive brought; empty it, or choose another directory";
    Err(HostError::file("replace", dest, &reason))
}

/// Copies the archive to a file and returns its digest.
fn fetch(archive: &ArchiveToUnpack, file: &mut File, stop: &StopSignal) -> Result<String, HostError> {
    let source = &archive.source;
    let failed = |error: io::Error| {
        HostError::Other(format!("cannot read the archive `{source}`: {}", files::reason(&error)))
    };
    let mut reader: Box<dyn Read> = if source.starts_with('/') {
        Box::new(File::open(source).map_err(failed)?)
    } else {
        network::open(source).map_err(failed)?
    };
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        if let Some(reason) = stop.reason() {
            return Err(HostError::Stopped(reason));
        }
        let n_read = reader.read(&mut buffer).map_err(failed)?;
        if n_read == 0 {
            return Ok(hex::encode(hash.finalize()));
        }
        hash.update(&buffer[..n_read]);
        file.write_all(&buffer[..n_read]).map_err(failed)?;
    }
}

fn extract(mut file: File, folder: &Path) -> io::Result<()> {
    let mut magic = [0; 6];
    file.seek(SeekFrom::Start(0))?;
    let n_read = file.read(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    let file = BufReader::new(file);
    let reader: Box<dyn Read> = match &magic[..n_read] {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Box::new(lzma_rust2::XzReader::new(file, true)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(ruzstd::decoding::StreamingDecoder::new(file).map_err(io::Error::other)?)
        }
        _ => Box::new(file),
    };
    let mut archive = tar::Archive::new(reader);
    archive.set_preserve_permissions(true);
    archive.set_preserve_ownerships(false);
    for entry in archive.entries()? {
        let mut entry = entry?;
        // `false`: the path leads out of the directory.
        if !entry.unpack_in(folder)? {
            let path = entry.path()?.display().to_string();
            return Err(io::Error::other(format!("the archive has the unsafe path `{path}`")));
        }
    }
    Ok(())
}

/// Returns the directory below leading directories.
fn strip(content: &Path, n_levels: usize) -> io::Result<PathBuf> {
    let mut root = content.to_owned();
    for level in 0..n_levels {
        let entries = fs::read_dir(&root)?.collect::<io::Result<Vec<_>>>()?;
        match &entries[..] {
            [single] if single.file_type()?.is_dir() => root = single.path(),
            _ => {
                let message = format!(
                    "cannot strip {n_levels} directories: level {} is not a single directory",
                    level + 1
                );
                return Err(io::Error::other(message));
            }
        }
    }
    Ok(root)
}

/// Puts a directory in its place at once. The previous one is removed with the temporary directory.
fn replace(root: &Path, dest: &Path, folder: &TempDir) -> io::Result<()> {
    if dest.exists() {
        let at = nix::fcntl::AT_FDCWD;
        nix::fcntl::renameat2(at, root, at, dest, RenameFlags::RENAME_EXCHANGE)?;
    } else {
        fs::rename(root, dest)?;
    }
    let parent = folder.path().parent().unwrap_or(dest);
    File::open(parent)?.sync_all()
}
