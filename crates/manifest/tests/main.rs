//! Integration tests of `stoker-manifest` in one binary, which is linked once instead of once per file.

mod hostile;
mod real;
