//! Simulation of plans: random graphs and histories, planned by the real planner and by an oracle.
//!
//! [`simulate_plans`] replays the history of a seed: operators edit settings, tasks and nodes, machines are replaced,
//! runs succeed and fail. Before each run, the decision about every instance is compared with that of the oracle
//! (`model.rs`), and with the truth: what the tasks have written to the simulated machines. [`PlanSabotage`] injects a defect to
//! prove that the checks would detect it.

mod execution;
mod expression;
mod generator;
mod history;
mod machines;
mod model;
mod records;
mod replay;
mod shrink;
mod site;
mod view;
mod world;

pub use replay::{PlanViolation, PlansReport, simulate_plans};
pub use shrink::describe_shrunk;
pub use world::PlanSabotage;
