//! How large things may be. What arrives comes from another machine, and memory is finite.

/// Of a message to an agent: an attempt carries the files it copies.
pub const TO_AGENT_BYTES_MAX: usize = 32 << 20;

/// Of a message from an agent.
pub const FROM_AGENT_BYTES_MAX: usize = 16 << 20;

/// Names: nodes, tasks, types, versions.
pub(crate) const NAME_BYTES_MAX: usize = 1024;

/// Why something ended.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// A piece of output.
pub(crate) const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Entries of a list.
pub(crate) const ITEMS_MAX: usize = 100_000;
