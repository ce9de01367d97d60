//! Prints syntax trees. Parsing the output yields the same tree.

use std::fmt::{self, Write as _};

use super::node::{ArgNode, ArgRange, Node, NodeId, Tree};
use crate::pytext::format_float;
use crate::value::Value;

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(self.root, f)
    }
}

impl Tree {
    /// Writes a subtree in canonical form.
    pub fn print(&self, id: NodeId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer { tree: self, f }.node(id)
    }
}

struct Printer<'a, 'f> {
    tree: &'a Tree,
    f: &'a mut fmt::Formatter<'f>,
}

impl Printer<'_, '_> {
    /// Prints a node. Parentheses are nodes themselves, so none have to be added.
    fn node(&mut self, id: NodeId) -> fmt::Result {
        match self.tree.node(id) {
            Node::Const(index) => self.constant(self.tree.constant(*index)),
            Node::Keyword(_) => self.f.write_str(self.tree.keyword(id).unwrap_or_default()),
            Node::Dollar => self.f.write_char('$'),
            Node::Var(index) => write!(self.f, "{}", self.tree.name(*index)),
            Node::Paren(inner) => {
                self.f.write_char('(')?;
                self.node(*inner)?;
                self.f.write_char(')')
            }
            Node::List(args) => self.args("[", *args, "]"),
            Node::Map(args) => self.args("{", *args, "}"),
            Node::Index { receiver, args, .. } => {
                self.node(*receiver)?;
                self.args("[", *args, "]")
            }
            Node::Unary(op, operand) => {
                write!(self.f, "{} ", op.symbol())?;
                self.node(*operand)
            }
            Node::Binary(op, left, right) => {
                self.node(*left)?;
                write!(self.f, " {} ", op.symbol())?;
                self.node(*right)
            }
            Node::Member { receiver, key, safe, .. } => {
                self.dot(*receiver, *safe)?;
                self.f.write_str(self.tree.text(*key))
            }
            Node::Method { receiver, name, args, safe, .. } => {
                self.dot(*receiver, *safe)?;
                self.f.write_str(self.tree.text(*name))?;
                self.args("(", *args, ")")
            }
            Node::BadDot { receiver, right, safe } => {
                self.dot(*receiver, *safe)?;
                self.node(*right)
            }
            Node::Call { name, args, .. } => {
                self.f.write_str(self.tree.text(*name))?;
                self.args("(", *args, ")")
            }
            Node::Invoke { callee, args, .. } => {
                self.node(*callee)?;
                // Without the space, a word before the parenthesis would be parsed as a call.
                self.f.write_char(' ')?;
                self.args("(", *args, ")")
            }
        }
    }

    fn dot(&mut self, receiver: NodeId, safe: bool) -> fmt::Result {
        self.node(receiver)?;
        // The space separates a number from the dot, which would otherwise start a fraction.
        if self.ends_with_number(receiver) {
            self.f.write_char(' ')?;
        }
        self.f.write_str(if safe { "?." } else { "." })
    }

    fn ends_with_number(&self, id: NodeId) -> bool {
        match self.tree.node(id) {
            Node::Const(index) => {
                matches!(self.tree.constant(*index), Value::Int(_) | Value::BigInt(_) | Value::Float(_))
            }
            Node::BadDot { right, .. } | Node::Unary(_, right) | Node::Binary(_, _, right) => {
                self.ends_with_number(*right)
            }
            _ => false,
        }
    }

    fn args(&mut self, open: &str, args: ArgRange, close: &str) -> fmt::Result {
        self.f.write_str(open)?;
        for (index, slot) in self.tree.arg_slice(args).iter().enumerate() {
            if index > 0 {
                self.f.write_str(", ")?;
            }
            match slot {
                ArgNode::Omitted => {}
                ArgNode::Positional(node) => self.node(*node)?,
                ArgNode::Pair(key, value) => {
                    self.node(*key)?;
                    self.f.write_str(" => ")?;
                    self.node(*value)?;
                }
            }
        }
        self.f.write_str(close)
    }

    fn constant(&mut self, value: &Value) -> fmt::Result {
        match value {
            Value::Null => self.f.write_str("null"),
            Value::Bool(flag) => write!(self.f, "{flag}"),
            Value::Int(number) => write!(self.f, "{number}"),
            Value::BigInt(number) => write!(self.f, "{number}"),
            Value::Float(number) => self.float(*number),
            Value::Str(text) => self.string(text),
            _ => Ok(()),
        }
    }

    /// Prints a float without an exponent, which the language does not support.
    fn float(&mut self, number: f64) -> fmt::Result {
        if number.is_infinite() {
            // An infinite constant can only come from a literal that is too large.
            return write!(self.f, "1{}.0", "0".repeat(309));
        }
        let text = format_float(number);
        if text.contains('e') {
            let text = format!("{number:.1100}");
            let text = text.trim_end_matches('0');
            return write!(self.f, "{text}{}", if text.ends_with('.') { "0" } else { "" });
        }
        self.f.write_str(&text)
    }

    fn string(&mut self, text: &str) -> fmt::Result {
        self.f.write_char('\'')?;
        for letter in text.chars() {
            match letter {
                '\\' => self.f.write_str("\\\\")?,
                '\'' => self.f.write_str("\\'")?,
                '\n' => self.f.write_str("\\n")?,
                '\r' => self.f.write_str("\\r")?,
                '\t' => self.f.write_str("\\t")?,
                letter => self.f.write_char(letter)?,
            }
        }
        self.f.write_char('\'')
    }
}
