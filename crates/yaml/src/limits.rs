//! What a text may cost.

/// Bounds on one call of [`crate::load`]. Every bound is inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Length of the text in bytes (never more than 4 GiB, whatever is asked).
    pub size_bytes_max: usize,
    /// Nesting of sequences and mappings, aliases expanded.
    pub depth_max: usize,
    /// Nodes over all documents; an alias costs as many as the node it repeats, and a text one more for every 64 bytes.
    pub nodes_max: usize,
    /// Problems kept of each severity; the rest is only counted.
    pub problems_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { size_bytes_max: 16 << 20, depth_max: 100, nodes_max: 1_000_000, problems_max: 200 }
    }
}
