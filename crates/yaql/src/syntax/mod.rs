//! From text to a tree: tokens, nodes, the parser, and the printer that undoes it.

mod lexer;
mod node;
mod parser;
mod print;

pub use node::{ArgNode, ArgRange, BinaryOp, Node, NodeId, Placed, Tree, UnaryOp, VarName};
pub use parser::{Grammar, parse};
