//! Integration tests of `stoker-planner` in one binary, which is linked once instead of once per file.

mod choices;
mod doubt;
mod expressions;
mod extras;
mod fidelity;
mod fleets;
mod group_conditions;
mod handlers;
mod helpers;
mod inputs;
mod mutations;
mod plans;
mod properties;
mod real;
mod regressions;
mod small;
mod truth;
