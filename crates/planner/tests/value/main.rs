//! The plan as a value: stored, compared with what it was made from, and explained as a whole.

#[path = "../real/mod.rs"]
mod real;
#[path = "../small/mod.rs"]
mod small;

mod check;
mod compare;
mod digests;
mod drawing;
mod estimate;
mod plans;
mod reasons;
mod serialized;
mod stored;
