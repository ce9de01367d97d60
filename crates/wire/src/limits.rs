//! Size limits of messages. The peer is another machine, so memory use per message must be bounded.

/// Maximum size of a message to an agent. Large because an attempt carries the files it copies.
pub const TO_AGENT_BYTES_MAX: usize = 32 << 20;

/// Maximum size of a message from an agent, and of a journal record.
pub const FROM_AGENT_BYTES_MAX: usize = 16 << 20;

/// Maximum length of names: nodes, tasks, task types, versions.
pub(crate) const NAME_BYTES_MAX: usize = 1024;

/// Maximum length of a failure or refusal reason.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Maximum length of one chunk of task output.
pub(crate) const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Maximum number of entries in a list.
pub(crate) const ITEMS_MAX: usize = 100_000;
