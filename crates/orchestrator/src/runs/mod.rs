//! Executes runs: plans and executes their graphs one after another, commits the decisions of the engine,
//! then performs their effects.
//!
//! ```text
//! launch ─▶ conductor ─▶ driver ─▶ engine          decides; pure
//!                          │  ▲
//!                  effects ▼  │ commands
//!                        agents ◀─▶ session ◀─▶ an agent
//! ```
//!
//! A driver commits events, history, applied states and node states in one transaction and performs effects
//! afterwards. After a crash, the server that takes the run over replays its events and repeats the effects,
//! which are idempotent.

mod applied;
mod blueprint;
mod conclude;
mod conductor;
mod control;
mod delete;
mod dispatch;
mod driver;
mod durations;
mod effects;
mod launch;
mod messages;
mod module_work;
mod modules;
mod outcome;
mod projection;
mod reapply;
mod restore;
mod retry;
mod spans;
mod start;
mod wait;
mod work;

pub use blueprint::{blueprint_of_plan, draft_from_plan};
pub use conductor::{start_driver, start_drivers};
pub(crate) use conductor::{take_over, take_over_interval};
pub(crate) use control::control_here;
pub use control::{control_run, stop_active, stop_run};
pub use delete::delete_run;
pub use launch::{Launch, launch_in};
pub use projection::OUTCOME;
pub use retry::retry;
pub use start::{GraphSelection, apply_plan, start, start_changes, start_one, start_sequence};
pub use wait::wait;
