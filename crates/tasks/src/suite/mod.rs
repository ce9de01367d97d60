//! What holds for every task type, proved over the list, and the cases of each.

mod cases;
mod fake;
mod laws;
