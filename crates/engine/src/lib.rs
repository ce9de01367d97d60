//! State machines for a run and for the session between a server and an agent.
//!
//! The crate does no I/O and does not read the clock: events and the current time are inputs, required
//! actions go out as values. The caller persists the decisions of a machine before it acts on them.
//!
//! # How to drive a run
//!
//! 1. Build a [`blueprint::Blueprint`] from the plan (`stoker_orchestrator::runs::blueprint_of_plan`). Its defects are reported before anything starts.
//! 2. Create a [`run::RunMachine`], or restore one by replaying its events. Give it [`run::Input::Begin`], or
//!    [`run::Input::TakeOver`] and then execute all of [`run::RunMachine::effects`].
//! 3. For each input: call [`run::step`], commit the events in one transaction that also checks that the run lease is
//!    still held, then execute the effects. If the commit fails, the step did not happen: discard the run and restore it.
//! 4. Pass `Dispatch` and `Cancel` to the [`session::server::ServerSession`] of the agent given by
//!    [`blueprint::Blueprint::executor_of`], and pass what the session outputs back as inputs. Give the session
//!    [`session::server::Input::Recorded`] only after the transaction of step 3 has committed the result.
//!
//! An agent drives a [`session::agent::AgentSession`] over a journal on its disk. `crates/sim` does all of
//! this in memory and is the shortest complete example.

pub mod blueprint;
pub mod run;
pub mod session;
