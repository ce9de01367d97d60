//! Syntax tree, stored in a flat arena.
//!
//! Nodes refer to each other by index, so a tree needs a constant number of allocations regardless of its
//! size, and dropping it does not recurse.

use std::fmt;
use std::sync::Arc;

use crate::error::Span;
use crate::value::Value;

/// An index into [`Tree::nodes`].
pub type NodeId = u32;

/// A parsed expression.
#[derive(Debug, Default)]
pub struct Tree {
    pub source: Arc<str>,
    /// Children precede their parents.
    pub nodes: Vec<SpannedNode>,
    pub args: Vec<ArgNode>,
    /// Numbers, strings and keywords. Nodes refer to them by index, which keeps nodes small and `Copy`.
    pub constants: Vec<Value>,
    /// Variables other than `$`.
    pub names: Vec<VarName>,
    /// Number of call sites.
    pub sites: u32,
    pub root: NodeId,
}

/// A node with its source span and depth.
#[derive(Debug)]
pub struct SpannedNode {
    pub node: Node,
    pub span: Span,
    /// Height of the subtree, including this node.
    pub depth: u16,
}

/// A syntax node. `site` is the number of a call within the expression.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Node {
    /// A number, a string, `true`, `false` or `null`; see [`Tree::constant`].
    Const(u32),
    /// A bare word: a string that can also denote an argument name or a property.
    Keyword(u32),
    /// `$`, which is `$1`.
    Dollar,
    /// Any other variable; see [`Tree::name`].
    Var(u32),
    /// Parentheses are significant: a bare word in parentheses is not a keyword.
    Paren(NodeId),
    List(ArgRange),
    Map(ArgRange),
    Index {
        receiver: NodeId,
        args: ArgRange,
        site: u32,
    },
    Unary(UnaryOp, NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    /// `receiver.key` or `receiver?.key`. The key is a span of the source; its hash is precomputed.
    Member {
        receiver: NodeId,
        key: Span,
        hash: u64,
        safe: bool,
    },
    /// `receiver.name(…)` or `receiver?.name(…)`.
    Method {
        receiver: NodeId,
        name: Span,
        args: ArgRange,
        safe: bool,
        site: u32,
    },
    /// A dot whose right operand is neither a key nor a call; fails when evaluated.
    BadDot {
        receiver: NodeId,
        right: NodeId,
        safe: bool,
    },
    Call {
        name: Span,
        args: ArgRange,
        site: u32,
    },
    /// `value(…)`; only with delegates.
    Invoke {
        callee: NodeId,
        args: ArgRange,
        site: u32,
    },
}

/// A range of [`Tree::args`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgRange {
    pub start: u32,
    pub len: u32,
}

/// One slot of an argument list.
#[derive(Clone, Copy, Debug)]
pub enum ArgNode {
    /// An empty slot: the argument is omitted.
    Omitted,
    Positional(NodeId),
    /// `key => value`.
    Pair(NodeId, NodeId),
}

/// The name of a variable. `$` and `$1` are the same variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VarName {
    Positional(u32),
    Named(Arc<str>),
}

impl VarName {
    pub const FIRST: Self = Self::Positional(1);

    /// Parses a name without its `$`.
    pub fn new(name: &str) -> Self {
        if name.is_empty() {
            return Self::FIRST;
        }
        let canonical = !name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit());
        match name.parse() {
            Ok(number) if canonical => Self::Positional(number),
            _ => Self::Named(name.into()),
        }
    }
}

impl fmt::Display for VarName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Positional(1) => f.write_str("$"),
            Self::Positional(number) => write!(f, "${number}"),
            Self::Named(name) => write!(f, "${name}"),
        }
    }
}

macro_rules! operators {
    ($(#[$doc:meta])* $name:ident: $($variant:ident $symbol:literal $function:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub fn symbol(self) -> &'static str {
                match self { $(Self::$variant => $symbol,)* }
            }

            /// Returns the name of the function that implements the operator.
            pub fn function(self) -> &'static str {
                match self { $(Self::$variant => $function,)* }
            }
        }
    };
}

operators! {
    UnaryOp:
    Plus "+" "#unary_operator_+",
    Minus "-" "#unary_operator_-",
    Not "not" "#unary_operator_not",
}

operators! {
    /// Binary operators. `Pair` is an operator only in the legacy grammar, where it builds tuples.
    BinaryOp:
    Matches "=~" "#operator_=~",
    NotMatches "!~" "#operator_!~",
    Mul "*" "#operator_*",
    Div "/" "#operator_/",
    Mod "mod" "#operator_mod",
    Add "+" "#operator_+",
    Sub "-" "#operator_-",
    Gt ">" "#operator_>",
    Lt "<" "#operator_<",
    Ge ">=" "#operator_>=",
    Le "<=" "#operator_<=",
    Ne "!=" "*not_equal",
    Eq "=" "*equal",
    In "in" "#operator_in",
    And "and" "#operator_and",
    Or "or" "#operator_or",
    Arrow "->" "#operator_->",
    Pair "=>" "#operator_=>",
}

impl BinaryOp {
    /// Reports whether the result is a boolean computed from the operands alone.
    pub(crate) fn is_test(self) -> bool {
        !matches!(
            self,
            Self::Mul
                | Self::Div
                | Self::Mod
                | Self::Add
                | Self::Sub
                | Self::And
                | Self::Or
                | Self::Arrow
                | Self::Pair
        )
    }
}

impl Tree {
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize].node
    }

    pub fn span(&self, id: NodeId) -> Span {
        self.nodes[id as usize].span
    }

    pub fn text(&self, span: Span) -> &str {
        &self.source[span.start as usize..span.end as usize]
    }

    /// Returns a range of the source as bytes, which skips the character boundary checks.
    #[inline]
    pub fn bytes(&self, span: Span) -> &[u8] {
        &self.source.as_bytes()[span.start as usize..span.end as usize]
    }

    #[inline]
    pub fn constant(&self, index: u32) -> &Value {
        &self.constants[index as usize]
    }

    pub fn name(&self, index: u32) -> &VarName {
        &self.names[index as usize]
    }

    /// Returns the text of a keyword node.
    pub fn keyword(&self, id: NodeId) -> Option<&str> {
        match self.node(id) {
            Node::Keyword(word) => self.constant(*word).as_str(),
            _ => None,
        }
    }

    pub fn arg_slice(&self, range: ArgRange) -> &[ArgNode] {
        &self.args[range.start as usize..(range.start + range.len) as usize]
    }
}
