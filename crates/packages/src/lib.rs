//! Plugin packages where they lie: in a folder, in an archive, and below the root where a server keeps them.
//!
//! What a package says and whether it is sound is decided by `stoker-registry`; this crate brings it the files. An
//! archive comes from a stranger: it is read piece by piece within [`Limits`], into a folder of its own that goes away
//! unless everything about it was right.
//!
//! An archive is a gzip'ed tar with one folder in it, and in that folder `checksums.sha1` beside the files. The same
//! files always give the same bytes.

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

/// The extension of archives.
pub const ARCHIVE_EXTENSION: &str = "fp";
