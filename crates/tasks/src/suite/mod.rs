//! Test suite over the list of task types: invariants of every type, and the cases of each.

mod cases;
mod fake;
mod generated;
mod laws;
