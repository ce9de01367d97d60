//! Input: stored extras of a plan. Decoding fails, or gives extras that are stored and read unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../../crates/planner/tests/extras.rs"]
mod extras;

fuzz_target!(|data: &[u8]| extras::check(data));
