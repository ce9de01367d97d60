//! The side of the agent: what it promised to carry out, what runs, and what it still owes the server.
//!
//! Owns the rules that make an attempt happen at most once and its end known at least once:
//!
//! * An attempt is begun only after [`Record::Accepted`] is on disk. Whoever restarts an agent can therefore tell
//!   "never begun" from "begun, and nobody knows how far it came".
//! * An end is written before it is sent, and kept until the server says that it is safe.
//! * Of an instance only the newest attempt is carried out; an older one that is still running is killed first.
//! * A server that lost a run is recognised by its generation, and not listened to.
//! * A disk that refuses the journal refuses the attempt: it is not begun. An end that cannot be written is sent all
//!   the same, because it is true.
//!
//! Refuses to know how a journal is written, how a process is started or what time it is. Whoever drives it carries out
//! the [`Output`]s in their order, and answers each write with [`Input::Written`] or [`Input::WriteFailed`]. Messages may
//! come twice, late, and from a connection that is gone; those that were sent to an agent before it started again must
//! not be given to it.

mod greeting;
mod interface;
mod journal;
mod machine;
mod restart;
mod writing;

pub use interface::{Identity, Input, Limits, Output};
pub use journal::{Record, Safe};
pub use machine::AgentSession;
