//! Integration tests of `stoker-graph` in one binary, which is linked once instead of once per file.

mod csr;
mod cycles;
mod hostile;
mod real;
