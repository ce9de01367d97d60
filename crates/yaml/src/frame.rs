//! An open sequence or mapping, and how it becomes a node.

use granit_parser::StructureStyle;

use crate::loader::misplaced_tag;
use crate::mapping::{self, Built, Role};
use crate::node::{Node, NodeKind};
use crate::position::{Position, Span};
use crate::problem::{Problem, Problems, codes, quoted};
use crate::tag::{Tag, Written};

pub(crate) struct Frame {
    children: Children,
    tag: Written,
    /// Whether it is itself an item of `!!pairs` or `!!omap`.
    any_key: bool,
    pub(crate) anchor: usize,
    style: StructureStyle,
    start: Position,
    /// Where the last child ends.
    end: Position,
    size: usize,
    height: usize,
}

pub(crate) enum Children {
    Seq(Vec<Node>),
    Map { key: Option<Built>, pairs: Vec<(Built, Built)> },
}

impl Frame {
    pub(crate) fn new(
        children: Children,
        style: StructureStyle,
        tag: Written,
        any_key: bool,
        anchor: usize,
        span: Span,
    ) -> Self {
        Self { children, tag, any_key, anchor, style, start: span.start, end: span.end, size: 1, height: 0 }
    }

    /// Whether the items are pairs written as mappings of one entry.
    pub(crate) fn holds_pairs(&self) -> bool {
        matches!(self.children, Children::Seq(_))
            && matches!(self.tag, Written::Known(Tag::Omap | Tag::Pairs))
    }

    pub(crate) fn push(&mut self, child: Built, end: Position, problems: &mut Problems) {
        self.size = self.size.saturating_add(child.size);
        self.height = self.height.max(self.height_within(&child));
        self.end = end;
        match &mut self.children {
            Children::Seq(items) => items.push(as_value(child, problems).node),
            Children::Map { key, pairs } => match key.take() {
                None => *key = Some(child),
                Some(key) => pairs.push((key, as_value(child, problems))),
            },
        }
    }

    /// A merge takes over the entries of a mapping, not the mapping: a chain of merges is not deep.
    fn height_within(&self, child: &Built) -> usize {
        let is_merge =
            matches!(&self.children, Children::Map { key: Some(key), .. } if key.role == Role::Merge);
        match child.node.kind {
            NodeKind::Map(_) if is_merge => child.height.saturating_sub(1),
            NodeKind::Seq(_) if is_merge => child.height.saturating_sub(2),
            _ => child.height,
        }
    }

    /// `end` is where the closing bracket ends; a block ends with its last child instead, not at the
    /// next token somewhere below.
    pub(crate) fn finish(self, end: Position, problems: &mut Problems) -> Built {
        let end = if self.style == StructureStyle::Flow { end } else { self.end };
        let span = Span { start: self.start, end };
        let (kind, is_known_tag) = match self.children {
            Children::Seq(items) => match self.tag {
                Written::Known(Tag::Omap | Tag::Pairs) => {
                    (NodeKind::Seq(items.into_iter().map(|item| pair(item, problems)).collect()), true)
                }
                Written::Known(tag) => (NodeKind::Seq(items.into()), tag == Tag::Seq),
                _ => (NodeKind::Seq(items.into()), true),
            },
            Children::Map { pairs, .. } => {
                let entries = mapping::entries(pairs, self.any_key, problems);
                let is_known =
                    !matches!(self.tag, Written::Known(tag) if !matches!(tag, Tag::Map | Tag::Set));
                (NodeKind::Map(entries.into()), is_known)
            }
        };
        let node = Node { kind, span };
        if let (false, Written::Known(tag)) = (is_known_tag, self.tag) {
            problems.push(misplaced_tag(tag, node.kind_name(), span));
        }
        Built { node, role: Role::Ordinary, size: self.size, height: self.height + 1 }
    }
}

/// `<<` and `=` mean something as keys only.
pub(crate) fn as_value(built: Built, problems: &mut Problems) -> Built {
    if matches!(built.role, Role::Merge | Role::Value) {
        let text = quoted(built.node.as_str().unwrap_or_default());
        let problem = Problem::error(codes::VALUE, built.node.span, format!("{text} is not a value"));
        problems.push(problem.help("put it in quotes"));
        return Built { role: Role::Broken, ..built };
    }
    built
}

/// An item of `!!pairs`: a mapping of one entry becomes a sequence of two nodes.
fn pair(item: Node, problems: &mut Problems) -> Node {
    match &item.kind {
        NodeKind::Map(entries) if entries.len() == 1 => {
            let nodes = entries.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
            Node { kind: NodeKind::Seq(nodes.collect()), span: item.span }
        }
        _ => {
            let found = item.kind_name();
            let message = format!("an item of a list of pairs must be a mapping of one entry, not {found}");
            problems
                .push(Problem::error(codes::VALUE, item.span, message).help("write it as `- key: value`"));
            item
        }
    }
}
