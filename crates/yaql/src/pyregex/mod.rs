//! Regular expressions with the syntax, semantics and error messages of Python 3.11's `re`.
//!
//! The parser produces the reference's errors. Flags are then applied, which resolves every set to the
//! characters it matches. Most patterns run on the linear-time engine of the `regex` crate. Constructs that
//! this engine lacks or treats differently (look-around, back references, loops over the empty string, `$`
//! before a final newline, word boundaries outside ASCII) run on a backtracking engine with bounded steps and
//! memory.

mod ast;
mod charset;
mod classes;
mod emit;
mod exec;
mod frames;
mod ir;
mod loops;
mod machine;
mod parse;
mod parse_group;
mod parse_set;
mod program;
mod scan;
mod source;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod unicode;

pub use exec::{Flags, Match, Regex, ScanState, StepBudget, python_repr};
pub use template::Template;
pub use text::escape;
