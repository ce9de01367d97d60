//! Lexer, syntax tree, parser and printer.

mod lexer;
mod node;
mod parser;
mod print;

pub use node::{ArgNode, ArgRange, BinaryOp, Node, NodeId, SpannedNode, Tree, UnaryOp, VarName};
pub use parser::{Grammar, parse};
