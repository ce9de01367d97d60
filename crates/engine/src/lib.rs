//! A run, and the conversation between a server and the agents that carry it out, as state machines.
//!
//! Nothing here reads a clock, a file or a socket. What happened and what time it is come in, what has to be done goes out,
//! and whoever drives a machine keeps what it decided before doing it.

//!
//! # How to drive a run
//!
//! 1. Make a [`blueprint::Blueprint`] from the plan. Its defects are told before anything begins.
//! 2. Make a [`run::Run`], or read one again from its events, and give it [`run::Input::Begin`], or
//!    [`run::Input::TakeOver`] and then do all of [`run::Run::effects`].
//! 3. For everything that happens: [`run::step`], then keep the events in one transaction that also makes sure that the
//!    run is still one's own, then do the effects. A step that was not kept has not happened: throw the run away and
//!    read it again.
//! 4. `Dispatch` and `Cancel` go to the [`session::server::ServerSession`] of the agent of
//!    [`blueprint::Blueprint::executor_of`]; what the session hears goes back as inputs. It is told
//!    [`session::server::Input::Recorded`] of an end after the transaction of step 3, and of nothing else.
//!
//! An agent drives a [`session::agent::AgentSession`] over a journal on its disk. `crates/sim` does all of this in
//! memory, and is the shortest complete example.

pub mod blueprint;
pub mod run;
pub mod session;
