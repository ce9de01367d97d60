//! Integration tests of `stoker-yaml` in one binary, which is linked once instead of once per file.

mod corpus;
mod hostile;
mod json;
