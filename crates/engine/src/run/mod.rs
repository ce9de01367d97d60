//! A run as an event-sourced state machine: it consumes inputs, and returns events to record and effects to execute.
//!
//! [`step()`] decides. It expresses its decisions as [`EngineEvent`]s, and the state of a [`RunMachine`] changes only
//! through [`RunMachine::apply`]: a run is the fold of its events and can be restored from them. The required
//! actions ([`RunEffect`]) follow from the state, so a crash between committing events and executing effects
//! loses nothing ([`RunMachine::effects`]).
//!
//! # Rules
//!
//! * An instance starts only after all of its transitive predecessors have ended; a skipped instance still waits for its
//!   predecessors.
//! * Every instance ends exactly once: succeeded, failed, ignored (failed, without failing its node), skipped, blocked by
//!   a failed predecessor, cancelled, or not started.
//! * A node executes one instance at a time, including its retries. After a failure it skips its remaining
//!   tasks, unless [`crate::blueprint::FailurePolicy`] specifies otherwise. A failed node counts once against
//!   each of its groups; a blocked node does not count.
//! * A lost node fails only after `lost_after_ms`. Results that it reports later are recorded but change
//!   nothing.
//! * If an agent does not report a result in time, the engine ends the attempt and cancels it on the agent.
//!
//! # Cost
//!
//! The cost of an event is proportional to the edges it opens, plus a few logarithmic lookups. A full scan
//! happens only at the end of a stopped run.

mod apply;
mod cause;
mod due;
mod end;
mod event;
mod input;
mod node;
mod ready;
mod remaining;
mod replay;
mod state;
mod step;
mod stored;
mod triggers;
mod view;

pub use end::{NodeOutcome, RunOutcome};
pub use event::{
    AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NotStarted, Resolution, RunEffect,
};
pub use input::{Input, InputError, StopMode};
pub use replay::InvalidHistory;
pub use state::{InstanceState, Phase, RunMachine};
pub use step::{StepResult, step};
pub use stored::EventFormatError;
pub use view::Counts;
