//! An open sequence or mapping during loading.

use granit_parser::StructureStyle;
use stoker_diagnostics::{Diagnostic, Diagnostics, Position, Span, quoted};

use crate::codes;
use crate::mapping::{self, PendingNode, Role};
use crate::node::{Node, NodeKind};
use crate::tag::{ExplicitTag, Tag, misplaced_tag};

pub(crate) struct Frame {
    children: Children,
    tag: ExplicitTag,
    /// Whether the node is an item of `!!pairs` or `!!omap`, where any node may be a key.
    any_key: bool,
    pub(crate) anchor: usize,
    style: StructureStyle,
    start: Position,
    /// End of the last child.
    end: Position,
    size: usize,
    height: usize,
}

pub(crate) enum Children {
    Seq(Vec<Node>),
    Map { key: Option<PendingNode>, pairs: Vec<(PendingNode, PendingNode)> },
}

impl Frame {
    pub(crate) fn new(
        children: Children,
        style: StructureStyle,
        tag: ExplicitTag,
        any_key: bool,
        anchor: usize,
        span: Span,
    ) -> Self {
        Self { children, tag, any_key, anchor, style, start: span.start, end: span.end, size: 1, height: 0 }
    }

    /// Reports whether the items are pairs, written as mappings with one entry.
    pub(crate) fn contains_pairs(&self) -> bool {
        matches!(self.children, Children::Seq(_))
            && matches!(self.tag, ExplicitTag::Known(Tag::Omap | Tag::Pairs))
    }

    pub(crate) fn push(&mut self, child: PendingNode, end: Position, problems: &mut Diagnostics) {
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

    /// Returns the height that a child contributes. A merge copies the entries of a mapping, not the mapping
    /// itself, so a chain of merges does not add depth.
    fn height_within(&self, child: &PendingNode) -> usize {
        let is_merge =
            matches!(&self.children, Children::Map { key: Some(key), .. } if key.role == Role::Merge);
        match child.node.kind {
            NodeKind::Map(_) if is_merge => child.height.saturating_sub(1),
            NodeKind::Seq(_) if is_merge => child.height.saturating_sub(2),
            _ => child.height,
        }
    }

    /// Builds the node. `end` is the end of the closing bracket; a block collection ends with its last child
    /// instead, since the parser reports the next token.
    pub(crate) fn finish(self, end: Position, problems: &mut Diagnostics) -> PendingNode {
        let end = if self.style == StructureStyle::Flow { end } else { self.end };
        let span = Span { start: self.start, end };
        let (kind, is_valid_tag) = match self.children {
            Children::Seq(items) => match self.tag {
                ExplicitTag::Known(Tag::Omap | Tag::Pairs) => {
                    (NodeKind::Seq(items.into_iter().map(|item| pair(item, problems)).collect()), true)
                }
                ExplicitTag::Known(tag) => (NodeKind::Seq(items.into()), tag == Tag::Seq),
                _ => (NodeKind::Seq(items.into()), true),
            },
            Children::Map { pairs, .. } => {
                let entries = mapping::entries(pairs, self.any_key, problems);
                let is_valid =
                    !matches!(self.tag, ExplicitTag::Known(tag) if !matches!(tag, Tag::Map | Tag::Set));
                (NodeKind::Map(entries.into()), is_valid)
            }
        };
        let node = Node { kind, span };
        if let (false, ExplicitTag::Known(tag)) = (is_valid_tag, self.tag) {
            problems.push(misplaced_tag(tag, node.kind_name(), span));
        }
        PendingNode { node, role: Role::Ordinary, size: self.size, height: self.height + 1 }
    }
}

/// Rejects `<<` and `=` outside keys.
pub(crate) fn as_value(pending: PendingNode, problems: &mut Diagnostics) -> PendingNode {
    if matches!(pending.role, Role::Merge | Role::Value) {
        let text = quoted(pending.node.as_str().unwrap_or_default());
        let problem = Diagnostic::error(codes::VALUE, format!("{text} is not a value")).at(pending.node.span);
        problems.push(problem.help("put it in quotes"));
        return PendingNode { role: Role::Invalid, ..pending };
    }
    pending
}

/// Converts an item of `!!pairs`, a mapping with one entry, to a sequence of two nodes.
fn pair(item: Node, problems: &mut Diagnostics) -> Node {
    match &item.kind {
        NodeKind::Map(entries) if entries.len() == 1 => {
            let nodes = entries.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
            Node { kind: NodeKind::Seq(nodes.collect()), span: item.span }
        }
        _ => {
            let kind = item.kind_name();
            let message =
                format!("an item of `!!pairs` or `!!omap` must be a mapping with one entry, not {kind}");
            problems.push(
                Diagnostic::error(codes::VALUE, message).at(item.span).help("write it as `- key: value`"),
            );
            item
        }
    }
}
