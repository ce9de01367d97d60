//! Plugin packages on disk: in folders, in archives, and in the package root of a server.
//!
//! Validation of package contents belongs to `stoker-registry`; this crate reads the files. Archives are
//! untrusted input: they are streamed within [`Limits`] into a temporary folder that is removed unless all
//! checks pass.
//!
//! An archive is a gzip-compressed tar with one top-level folder, which contains `checksums.sha1` beside the
//! files. Packing is reproducible: the same files produce the same bytes.

mod checksums;
mod digest;
mod error;
mod folder;
mod limits;
mod pack;
mod repository;
mod root;
mod sniff;
mod tar;
mod unpack;

pub use digest::folder_digest;
pub use error::{ArchiveError, FolderError};
pub use folder::{CheckedFolder, check_folder};
pub use limits::ArchiveLimits;
pub use pack::{PackStats, pack, pack_file, pack_plugin};
pub use repository::{Repository, index_digest, normalize_path, repositories_without_index};
pub use root::{PendingChange, PluginsRoot};
pub use unpack::{UnpackedPackage, unpack};

/// File name extension of archives.
pub const ARCHIVE_EXTENSION: &str = "fp";
