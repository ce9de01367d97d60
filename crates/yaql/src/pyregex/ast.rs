//! Syntax tree of a pattern, before flags are applied.

/// The flag bits of Python.
pub(super) mod flag {
    pub(crate) const TEMPLATE: u32 = 1;
    pub(crate) const IGNORECASE: u32 = 2;
    pub(crate) const LOCALE: u32 = 4;
    pub(crate) const MULTILINE: u32 = 8;
    pub(crate) const DOTALL: u32 = 16;
    pub(crate) const UNICODE: u32 = 32;
    pub(crate) const VERBOSE: u32 = 64;
    pub(crate) const ASCII: u32 = 256;
    /// The mutually exclusive flags that select the character classification.
    pub(crate) const TYPE: u32 = ASCII | LOCALE | UNICODE;
}

/// "No upper bound" of a repeat; actual bounds are smaller.
pub(super) const UNBOUNDED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Digit,
    Space,
    Word,
}

/// A member of a set. Code points are numbers because they may be surrogates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetItem {
    Range(u32, u32),
    Category(Category, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// `^`: start of the text, or of a line with the multi-line flag.
    Start,
    /// `\A`
    TextStart,
    Boundary,
    NotBoundary,
    /// `$`
    End,
    /// `\Z`
    TextEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Greedy,
    Lazy,
    Possessive,
}

impl Mode {
    /// Returns Python's name of the operator.
    pub(super) fn operator(self) -> &'static str {
        match self {
            Self::Greedy => "MAX_REPEAT",
            Self::Lazy => "MIN_REPEAT",
            Self::Possessive => "POSSESSIVE_REPEAT",
        }
    }
}

#[derive(Debug)]
pub(super) enum Node {
    Literal(u32),
    NotLiteral(u32),
    Any,
    Set { negate: bool, items: Vec<SetItem> },
    At(Anchor),
    Repeat { min: u32, max: u32, mode: Mode, body: Seq },
    Group { index: Option<u32>, add: u32, del: u32, body: Seq },
    Atomic(Seq),
    Look { behind: bool, negate: bool, body: Seq },
    Branch(Vec<Seq>),
    GroupRef { group: u32, width: Width },
    Cond { group: u32, yes: Seq, no: Option<Seq> },
}

impl Node {
    /// Reports whether alternatives that start with these nodes can share their first node. Compound nodes
    /// cannot, because Python compares them by identity.
    pub(super) fn same_simple(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(a), Self::Literal(b)) | (Self::NotLiteral(a), Self::NotLiteral(b)) => a == b,
            (Self::Any, Self::Any) => true,
            (Self::Set { negate: a, items: c }, Self::Set { negate: b, items: d }) => a == b && c == d,
            (Self::At(a), Self::At(b)) => a == b,
            (Self::GroupRef { group: a, .. }, Self::GroupRef { group: b, .. }) => a == b,
            _ => false,
        }
    }

    fn width(&self) -> Width {
        match self {
            Self::Literal(_) | Self::NotLiteral(_) | Self::Any | Self::Set { .. } => Width { min: 1, max: 1 },
            Self::At(_) | Self::Look { .. } => Width::default(),
            Self::Repeat { min, max, body, .. } => body.width.repeat(*min, *max),
            Self::Group { body, .. } | Self::Atomic(body) => body.width,
            Self::Branch(items) => {
                let widths = items.iter().map(|item| item.width);
                widths.reduce(Width::either).unwrap_or_default()
            }
            Self::GroupRef { width, .. } => *width,
            Self::Cond { yes, no, .. } => {
                let other = no.as_ref().map_or_else(Width::default, |no| no.width);
                let max = if no.is_some() { yes.width.max.max(other.max) } else { yes.width.max };
                Width { min: yes.width.min.min(other.min), max }
            }
        }
    }
}

/// Minimum and maximum number of characters that a node can match; `u64::MAX` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Width {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Width {
    fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    fn either(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn repeat(self, min: u32, max: u32) -> Self {
        let unlimited = max == UNBOUNDED && self.max > 0;
        Self {
            min: self.min.saturating_mul(u64::from(min)),
            max: if unlimited { u64::MAX } else { self.max.saturating_mul(u64::from(max)) },
        }
    }
}

/// A sequence of nodes.
#[derive(Debug, Default)]
pub(super) struct Seq {
    pub(super) nodes: Vec<Node>,
    pub(super) width: Width,
}

impl Seq {
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        let width = nodes.iter().map(Node::width).fold(Width::default(), Width::plus);
        Self { nodes, width }
    }
}
