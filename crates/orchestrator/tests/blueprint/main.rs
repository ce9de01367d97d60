//! Blueprints of plans: what they contain, their makespan, and their runs with faults.

mod faults;
mod makespan;
mod of_plan;
mod real_plan;
