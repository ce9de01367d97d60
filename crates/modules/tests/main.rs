//! Integration tests of `stoker-modules` in one binary, which is linked once instead of once per file.

mod order;
mod rules;
