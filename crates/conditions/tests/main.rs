//! Integration tests of `stoker-conditions` in one binary, which is linked once instead of once per file.

mod hostile;
mod language;
mod real;
mod rewrite;
