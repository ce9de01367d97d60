//! Integration tests of `stoker-yaql` in one binary, which is linked once instead of once per file.

mod corpus;
mod examples;
mod growth;
mod host;
mod hostile;
