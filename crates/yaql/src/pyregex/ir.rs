//! Intermediate representation: a pattern with its flags applied, from which the engines are built.

use super::ast::{Anchor, Mode, Node, Seq, UNBOUNDED, flag};
use super::charset::CharSet;
use super::classes::Classes;
use super::source::fail;
use crate::error::Result;
use std::sync::Arc;

/// The characters that a single-character node matches.
#[derive(Clone, Debug)]
pub(super) enum Class {
    One(char),
    /// Any character except a newline.
    Line,
    Any,
    Set(Arc<CharSet>),
}

impl Class {
    pub(super) fn contains(&self, ch: char) -> bool {
        match self {
            Self::One(one) => *one == ch,
            Self::Line => ch != '\n',
            Self::Any => true,
            Self::Set(set) => set.contains(u32::from(ch)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    TextStart,
    LineStart,
    TextEnd,
    /// At the end, or before a final newline.
    TextEndLine,
    LineEnd,
    Boundary {
        negate: bool,
        ascii: bool,
    },
}

/// Comparison mode of a back reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Ascii,
    Unicode,
}

#[derive(Debug)]
pub(super) enum Ir {
    Char(Class),
    At(At),
    Concat(Vec<Ir>),
    Branch(Vec<Ir>),
    /// A capturing group, numbered from 1.
    Group(u32, Box<Ir>),
    Repeat(Box<Repeat>),
    Atomic(Box<Ir>),
    /// A look-around. `back` is the number of characters before the current position at which the body
    /// starts.
    Look {
        back: u32,
        negate: bool,
        body: Box<Ir>,
    },
    GroupRef(u32, Case),
    Cond {
        group: u32,
        yes: Box<Ir>,
        no: Box<Ir>,
    },
}

#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) mode: Mode,
    pub(super) body: Ir,
    /// Whether the body can match the empty string.
    pub(super) nullable: bool,
}

impl Ir {
    /// Returns the number of characters with all repeats unrolled.
    pub(super) fn weight(&self) -> u64 {
        let sum = |items: &[Ir]| items.iter().fold(1, |sum: u64, item| sum.saturating_add(item.weight()));
        match self {
            Self::Char(_) | Self::At(_) | Self::GroupRef(..) => 1,
            Self::Concat(items) | Self::Branch(items) => sum(items),
            Self::Group(_, body) | Self::Atomic(body) | Self::Look { body, .. } => body.weight(),
            Self::Repeat(item) => {
                let times = if item.max == UNBOUNDED { item.min.saturating_add(1) } else { item.max };
                item.body.weight().saturating_mul(u64::from(times))
            }
            Self::Cond { yes, no, .. } => yes.weight().saturating_add(no.weight()),
        }
    }
}

/// Applies the flags to the syntax tree.
pub(super) fn lower(body: &Seq, flags: u32) -> Result<Ir> {
    Lower { classes: Classes::default() }.seq(body, flags)
}

struct Lower {
    classes: Classes,
}

impl Lower {
    fn seq(&mut self, seq: &Seq, flags: u32) -> Result<Ir> {
        if let [node] = seq.nodes.as_slice() {
            return self.node(node, flags);
        }
        let nodes: Result<Vec<Ir>> = seq.nodes.iter().map(|node| self.node(node, flags)).collect();
        Ok(Ir::Concat(nodes?))
    }

    fn boxed(&mut self, seq: &Seq, flags: u32) -> Result<Box<Ir>> {
        self.seq(seq, flags).map(Box::new)
    }

    fn node(&mut self, node: &Node, flags: u32) -> Result<Ir> {
        Ok(match node {
            Node::Literal(code) => Ir::Char(self.classes.literal(*code, false, flags)?),
            Node::NotLiteral(code) => Ir::Char(self.classes.literal(*code, true, flags)?),
            Node::Any if flags & flag::DOTALL != 0 => Ir::Char(Class::Any),
            Node::Any => Ir::Char(Class::Line),
            Node::Set { negate, items } => Ir::Char(self.classes.set(*negate, items, flags)?),
            Node::At(anchor) => Ir::At(at(*anchor, flags)),
            Node::Repeat { min, max, mode, body } => self.repeat(*min, *max, *mode, body, flags)?,
            Node::Group { index, add, del, body } => {
                let inherited = if add & flag::TYPE == 0 { flags } else { flags & !flag::TYPE };
                let body = self.seq(body, (inherited | add) & !del)?;
                match index {
                    Some(index) => Ir::Group(*index, Box::new(body)),
                    None => body,
                }
            }
            Node::Atomic(body) => Ir::Atomic(self.boxed(body, flags)?),
            Node::Look { behind, negate, body } => {
                let back = if *behind { behind_width(body)? } else { 0 };
                Ir::Look { back, negate: *negate, body: self.boxed(body, flags)? }
            }
            Node::Branch(items) => {
                let items: Result<Vec<Ir>> = items.iter().map(|item| self.seq(item, flags)).collect();
                Ir::Branch(items?)
            }
            Node::GroupRef { group, .. } => Ir::GroupRef(*group, case(flags)),
            Node::Cond { group, yes, no } => {
                let yes = self.boxed(yes, flags)?;
                let no = no.as_ref().map_or(Ok(Ir::Concat(Vec::new())), |no| self.seq(no, flags))?;
                Ir::Cond { group: *group, yes, no: Box::new(no) }
            }
        })
    }

    fn repeat(&mut self, min: u32, max: u32, mode: Mode, body: &Seq, flags: u32) -> Result<Ir> {
        if flags & flag::TEMPLATE != 0 {
            let operator = mode.operator();
            return fail(format!("internal: unsupported template operator {operator}"));
        }
        let nullable = body.width.min == 0;
        Ok(Ir::Repeat(Box::new(Repeat { min, max, mode, body: self.seq(body, flags)?, nullable })))
    }
}

fn behind_width(body: &Seq) -> Result<u32> {
    let Ok(width) = u32::try_from(body.width.min) else {
        return fail("looks too much behind");
    };
    if body.width.min != body.width.max {
        return fail("look-behind requires fixed-width pattern");
    }
    Ok(width)
}

fn case(flags: u32) -> Case {
    if flags & flag::IGNORECASE == 0 {
        Case::Exact
    } else if flags & flag::UNICODE != 0 {
        Case::Unicode
    } else {
        Case::Ascii
    }
}

fn at(anchor: Anchor, flags: u32) -> At {
    let lines = flags & flag::MULTILINE != 0;
    let ascii = flags & flag::UNICODE == 0;
    match anchor {
        Anchor::Start if lines => At::LineStart,
        Anchor::Start | Anchor::TextStart => At::TextStart,
        Anchor::End if lines => At::LineEnd,
        Anchor::End => At::TextEndLine,
        Anchor::TextEnd => At::TextEnd,
        Anchor::Boundary => At::Boundary { negate: false, ascii },
        Anchor::NotBoundary => At::Boundary { negate: true, ascii },
    }
}
