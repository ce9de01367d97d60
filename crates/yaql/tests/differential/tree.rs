//! Generated expressions as trees that can be printed and shrunk.

use std::fmt::{self, Write as _};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) form: Form,
    /// Operands, receiver first, then arguments.
    pub(crate) kids: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// A literal or variable, as source text.
    Atom(String),
    Call(String),
    /// `receiver.name(…)`, or `receiver?.name(…)` if true.
    Method(String, bool),
    Member(String, bool),
    Index,
    Binary(&'static str),
    Unary(&'static str),
    List,
    Map,
    Paren,
    /// `value(…)`.
    Invoke,
    /// `key => value` in an argument list.
    Pair,
    /// An empty slot of an argument list.
    Omitted,
}

impl Node {
    pub(crate) fn new(form: Form, kids: Vec<Self>) -> Self {
        Self { form, kids }
    }

    pub(crate) fn atom(text: impl Into<String>) -> Self {
        Self::new(Form::Atom(text.into()), Vec::new())
    }

    pub(crate) fn call(name: &str, args: Vec<Self>) -> Self {
        Self::new(Form::Call(name.to_owned()), args)
    }

    pub(crate) fn method(receiver: Self, name: &str, args: Vec<Self>) -> Self {
        let kids = [vec![receiver.tight()], args].concat();
        Self::new(Form::Method(name.to_owned(), false), kids)
    }

    pub(crate) fn member(receiver: Self, key: &str) -> Self {
        Self::new(Form::Member(key.to_owned(), false), vec![receiver.tight()])
    }

    pub(crate) fn index(receiver: Self, args: Vec<Self>) -> Self {
        Self::new(Form::Index, [vec![receiver.tight()], args].concat())
    }

    pub(crate) fn binary(op: &'static str, left: Self, right: Self) -> Self {
        Self::new(Form::Binary(op), vec![left, right])
    }

    pub(crate) fn unary(op: &'static str, operand: Self) -> Self {
        Self::new(Form::Unary(op), vec![operand])
    }

    pub(crate) fn pair(key: Self, value: Self) -> Self {
        Self::new(Form::Pair, vec![key, value])
    }

    pub(crate) fn paren(self) -> Self {
        Self::new(Form::Paren, vec![self])
    }

    /// Adds parentheses if the expression is an operator.
    pub(crate) fn tight(self) -> Self {
        match &self.form {
            Form::Binary(_) | Form::Unary(_) | Form::Invoke => self.paren(),
            Form::Atom(text) if text.starts_with(['-', '+']) => self.paren(),
            _ => self,
        }
    }

    /// Returns the index of the first argument among the children, if there is an argument list.
    pub(crate) fn args_from(&self) -> Option<usize> {
        match self.form {
            Form::Call(_) | Form::List | Form::Map => Some(0),
            Form::Method(..) | Form::Index | Form::Invoke => Some(1),
            _ => None,
        }
    }

    pub(crate) fn size(&self) -> usize {
        1 + self.kids.iter().map(Self::size).sum::<usize>()
    }

    /// Returns the node with a number, counted in preorder.
    pub(crate) fn nth(&mut self, number: &mut usize) -> Option<&mut Self> {
        if *number == 0 {
            return Some(self);
        }
        *number -= 1;
        self.kids.iter_mut().find_map(|kid| kid.nth(number))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kids = &self.kids;
        match &self.form {
            Form::Atom(text) => f.write_str(text),
            Form::Omitted => Ok(()),
            Form::Call(name) => {
                f.write_str(name)?;
                args(f, '(', kids, ')')
            }
            Form::Method(name, safe) => {
                write!(f, "{}{}{name}", kids[0], if *safe { "?." } else { "." })?;
                args(f, '(', &kids[1..], ')')
            }
            Form::Member(key, safe) => write!(f, "{}{}{key}", kids[0], if *safe { "?." } else { "." }),
            Form::Index => {
                write!(f, "{}", kids[0])?;
                args(f, '[', &kids[1..], ']')
            }
            Form::Invoke => {
                write!(f, "{}", kids[0])?;
                args(f, '(', &kids[1..], ')')
            }
            Form::Binary(op) => write!(f, "{} {op} {}", kids[0], kids[1]),
            Form::Unary("not") => write!(f, "not {}", kids[0]),
            Form::Unary(op) => write!(f, "{op}{}", kids[0]),
            Form::List => args(f, '[', kids, ']'),
            Form::Map => args(f, '{', kids, '}'),
            Form::Paren => write!(f, "({})", kids[0]),
            Form::Pair => write!(f, "{} => {}", kids[0], kids[1]),
        }
    }
}

fn args(f: &mut fmt::Formatter<'_>, open: char, args: &[Node], close: char) -> fmt::Result {
    f.write_char(open)?;
    for (index, arg) in args.iter().enumerate() {
        write!(f, "{}{arg}", if index > 0 { ", " } else { "" })?;
    }
    f.write_char(close)
}
