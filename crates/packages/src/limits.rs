//! How much a package may be.

/// Far more than any plugin needs, and little enough for a server to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files and folders.
    pub n_entries_max: usize,
    pub file_bytes_max: u64,
    /// All files together.
    pub total_bytes_max: u64,
    /// Folders inside of each other.
    pub depth_max: usize,
    /// Of a path inside of the package.
    pub path_bytes_max: usize,
    /// Of a file that is read as text.
    pub text_bytes_max: u64,
}

impl Default for Limits {
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
