//! Agent side of the session: accepted attempts, running attempts and unacknowledged results.
//!
//! Owns the rules that make execution at-most-once and result delivery at-least-once:
//!
//! * An attempt starts only after [`Record::Accepted`] is on disk. After a restart the agent can therefore
//!   distinguish "never started" from "started, progress unknown".
//! * A result is journaled before it is sent, and retained until the server acknowledges it.
//! * Only the newest attempt of an instance is executed; an older one that is still running is killed first.
//! * A server that lost a run is recognised by its older generation and ignored.
//! * If the journal write of an acceptance fails, the attempt is refused. A result that cannot be journaled is still sent.
//!
//! The machine performs no I/O and reads no clock. The caller executes the [`Output`]s in order and answers
//! each write with [`Input::Written`] or [`Input::WriteFailed`]. Messages may be duplicated, delayed or come
//! from a closed connection; messages sent to the agent before its restart must not be passed to it.

mod hello;
mod journal;
mod machine;
mod messages;
mod restart;
mod writing;

pub use journal::{Durability, Record};
pub use machine::AgentSession;
pub use messages::{AgentLimits, Identity, Input, Output};
