//! Integration tests of `stoker-packages` in one binary, which is linked once instead of once per file.

mod archives;
mod repositories;
