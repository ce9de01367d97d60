//! The spelling of messages: what goes out comes in, and nothing that comes in does harm.

mod hostile;
mod roundtrip;
mod spelling;
mod versions;
