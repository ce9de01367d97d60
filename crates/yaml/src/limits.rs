//! Resource limits of loading.

/// Limits of one call of [`crate::load`]. All limits are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadLimits {
    /// Length of the text in bytes; never more than 2 GiB, because offsets are 32-bit.
    pub size_bytes_max: usize,
    /// Nesting depth of sequences and mappings, with aliases expanded.
    pub depth_max: usize,
    /// Number of nodes in all documents. An alias counts as many as the node it repeats, and text counts one
    /// more per 64 bytes.
    pub nodes_max: usize,
    /// Maximum number of problems to list; further problems are only counted, and errors displace warnings.
    pub problems_max: usize,
}

impl Default for LoadLimits {
    fn default() -> Self {
        Self { size_bytes_max: 16 << 20, depth_max: 100, nodes_max: 1_000_000, problems_max: 200 }
    }
}
