//! Size limits of packages.

/// Far above the size of any real plugin, and low enough for a server to handle a hostile archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Number of files and folders.
    pub n_entries_max: usize,
    pub file_bytes_max: u64,
    /// Total size of all files.
    pub total_bytes_max: u64,
    /// Nesting depth of folders.
    pub depth_max: usize,
    /// Length of a path in the package.
    pub path_bytes_max: usize,
    /// Size of a file that is parsed as text.
    pub text_bytes_max: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self {
            n_entries_max: 20_000,
            file_bytes_max: 1 << 30,
            total_bytes_max: 2 << 30,
            depth_max: 32,
            path_bytes_max: 1024,
            text_bytes_max: 4 << 20,
        }
    }
}
