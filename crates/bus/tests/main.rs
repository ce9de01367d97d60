//! Integration tests of `stoker-bus` in one binary, which is linked once instead of once per file.

// First, because the other modules use its macro.
#[macro_use]
mod support;

mod conformance;
mod durable;
mod pipe;
