//! Plugin packages on disk: in directories, in archives, and in the package root of a server.
//!
//! Validation of package contents belongs to `stoker-registry`; this crate reads the files. Archives are
//! untrusted input: they are streamed within [`Limits`] into a temporary directory that is removed unless all
//! checks pass.
//!
//! An archive is a gzip-compressed tar with one top-level directory, which contains `checksums.sha1` beside the
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
pub use limits::Limits;
pub use pack::{Packed, pack, pack_file, pack_plugin};
pub use repository::{Repository, clean_path, index_digest, repositories_without_index};
pub use root::{PluginsRoot, Undo};
pub use unpack::{Unpacked, unpack};

/// File name extension of archives.
pub const ARCHIVE_EXTENSION: &str = "fp";
