//! A run as a state machine: what happened comes in, what is recorded and what has to be done comes out.
//!
//! [`step()`] decides. Whatever it decides it says as [`Event`]s, and the state of a [`Run`] changes only by
//! [`Run::apply`] of an event: a run is the fold of its history, and whoever lost it reads it again. What has to be done
//! ([`Effect`]) follows from the state, so that nothing is lost between writing events down and doing it
//! ([`Run::effects`]).
//!
//! # Rules
//!
//! * Nothing begins before everything that is before it has ended, over any number of instances in between: an instance
//!   that will not be run still waits for those before it.
//! * An instance ends once, and every instance ends: succeeded, failed, ignored (failed, and that does not matter),
//!   skipped, blocked by a failure before it, cancelled, or not started.
//! * A node does one thing at a time, retries of it included. A failure costs it the rest of its tasks unless
//!   [`crate::blueprint::OnFailure`] says otherwise. Failures count against the groups of the node, once for a node;
//!   being blocked does not.
//! * A silent node is not a failed one until it has been silent for long. What it reports after that is recorded and
//!   changes nothing.
//! * What an agent does not end in time is ended here, and cancelled there.
//!
//! # Cost
//!
//! Each event costs the edges it opens and a few logarithms. Nothing is scanned but at the end of a stopped run.

mod apply;
mod due;
mod end;
mod event;
mod fit;
mod input;
mod node;
mod ready;
mod state;
mod step;
mod stored;
mod view;

pub use end::{NodeEnd, RunEnd};
pub use event::{AttemptEnd, Effect, Event, EventKind, Next, NotStarted, Outcome, Resolution};
pub use fit::BrokenHistory;
pub use input::{Illegal, Input, StopHow};
pub use state::{Phase, Run, State};
pub use step::{Step, step};
pub use stored::Unreadable;
pub use view::{Counts, InFlight};
