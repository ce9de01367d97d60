//! Regular expressions with the syntax, the meaning and the messages of Python 3.11's `re`.
//!
//! A pattern is parsed here, with the reference's errors, and its flags are applied: every set becomes
//! the characters it matches. Most patterns then run on the linear-time engine of the `regex` crate.
//! What that engine cannot say, or would say differently (look-around, back references, loops over
//! nothing, `$` before a final newline, word boundaries outside ASCII), runs on a backtracking engine
//! with limited steps and memory.

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

pub use exec::{Flags, Match, Regex, ScanState, Work, python_repr};
pub use template::Template;
pub use text::escape;
