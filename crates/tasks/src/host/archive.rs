//! Archives to unpack.

use std::path::PathBuf;

use super::FileOwner;

/// A tar archive that becomes the content of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveToUnpack {
    /// URL, or absolute path on the host.
    pub source: String,
    /// Directory; replaced as a whole.
    pub dest: PathBuf,
    /// Required hexadecimal SHA-256 of the archive.
    pub sha256: String,
    /// Number of leading directories to remove.
    pub strip: usize,
    pub owner: FileOwner,
}

impl ArchiveToUnpack {
    /// File in the directory that records what was unpacked.
    pub const MARKER: &str = ".stoker-archive";

    /// Returns the content of the marker.
    pub fn marker(&self) -> String {
        match self.strip {
            0 => format!("sha256:{}\n", self.sha256),
            strip => format!("sha256:{} strip {strip}\n", self.sha256),
        }
    }
}
