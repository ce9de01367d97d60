//! Input: bytes that select a condition over states, and the states of a small cluster. The planner must decide as an evaluation
//! of the condition for each node alone.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../../crates/planner/tests/choices.rs"]
mod choices;

fuzz_target!(|data: &[u8]| choices::check(data));
