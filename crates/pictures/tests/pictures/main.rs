//! Diagrams are well formed for any input and have a stable appearance.

mod definitions;
mod formed;
mod look;
