//! The plan as a value: encoding, comparison, digests, drawing, estimate and explanation.

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
