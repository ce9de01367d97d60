//! Mapping semantics: merges, duplicate keys and valid keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use num_bigint::BigInt;
use stoker_diagnostics::{Diagnostic, Diagnostics, Span, quoted};

use crate::codes;
use crate::node::{Node, NodeKind, Scalar};
use crate::timestamp::{Date, Time};

/// A completed node that has not been added to its parent yet, with the properties that the parent needs.
#[derive(Clone)]
pub(crate) struct PendingNode {
    pub(crate) node: Node,
    pub(crate) role: Role,
    /// Number of nodes in it, including itself, with aliases expanded.
    pub(crate) size: usize,
    /// Number of nested collection levels.
    pub(crate) height: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Ordinary,
    /// The merge key `<<`, which is plain text when used as a value.
    Merge,
    /// `=`: text as a key, invalid elsewhere.
    Value,
    /// A placeholder for a node whose problem has been reported; suppresses further problems.
    Invalid,
}

/// Resolves merges and duplicates of a mapping.
///
/// `any_key` permits keys that cannot be compared, for items of `!!pairs`, which are not real mappings.
pub(crate) fn entries(
    pairs: Vec<(PendingNode, PendingNode)>,
    any_key: bool,
    problems: &mut Diagnostics,
) -> Vec<(Node, Node)> {
    let mut table = Table::default();
    let (merges, own): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| key.role == Role::Merge);
    // Merged entries precede other entries, regardless of the position of `<<`.
    for (_, source) in &merges {
        table.merge(source, problems);
    }
    for (key, value) in own.into_iter().filter(|(key, _)| key.role != Role::Invalid) {
        match Key::of(&key.node) {
            Some(hash) => table.insert_own(hash, key.node, value.node, problems),
            None if any_key => table.push(key.node, value.node, true),
            None => problems.push(
                Diagnostic::error(codes::KEY, format!("{} cannot be a key", key.node.kind_name()))
                    .at(key.node.span)
                    .help("use text or a number as the key, or put quotes around it"),
            ),
        }
    }
    table.entries
}

#[derive(Default)]
struct Table {
    entries: Vec<(Node, Node)>,
    /// Whether each entry was defined by this mapping rather than merged.
    is_own: Vec<bool>,
    index: HashMap<Key, usize>,
}

impl Table {
    fn merge(&mut self, source: &PendingNode, problems: &mut Diagnostics) {
        match &source.node.kind {
            NodeKind::Map(entries) => self.merge_map(entries),
            // Earlier mappings of the list take precedence, so they are applied last.
            NodeKind::Seq(items) => {
                for item in items.iter().rev() {
                    match &item.kind {
                        NodeKind::Map(entries) => self.merge_map(entries),
                        _ => problems.push(merge_problem(item)),
                    }
                }
            }
            NodeKind::Scalar(_) if source.role == Role::Invalid => {}
            NodeKind::Scalar(_) => problems.push(merge_problem(&source.node)),
        }
    }

    fn merge_map(&mut self, entries: &[(Node, Node)]) {
        for (key, value) in entries {
            let Some(hash) = Key::of(key) else { continue };
            match self.index.entry(hash) {
                Entry::Occupied(at) => self.entries[*at.get()].1 = value.clone(),
                Entry::Vacant(slot) => {
                    slot.insert(self.entries.len());
                    self.push(key.clone(), value.clone(), false);
                }
            }
        }
    }

    fn push(&mut self, key: Node, value: Node, is_own: bool) {
        self.entries.push((key, value));
        self.is_own.push(is_own);
    }

    /// Inserts an entry of the mapping itself. The first key (`1` and `true` are equal) and the last value
    /// are retained.
    fn insert_own(&mut self, hash: Key, key: Node, value: Node, problems: &mut Diagnostics) {
        match self.index.entry(hash) {
            Entry::Occupied(at) => {
                let at = *at.get();
                let (first, old) = &mut self.entries[at];
                if self.is_own[at] {
                    problems.push(duplicate_problem(&key, first.span));
                }
                // The span of the key is that of the effective value.
                first.span = key.span;
                *old = value;
                self.is_own[at] = true;
            }
            Entry::Vacant(slot) => {
                slot.insert(self.entries.len());
                self.push(key, value, true);
            }
        }
    }
}

fn merge_problem(source: &Node) -> Diagnostic {
    let message = format!("`<<` merges a mapping or a list of mappings, not {}", source.kind_name());
    Diagnostic::error(codes::MERGE, message)
        .at(source.span)
        .help("use an alias of a mapping, as in `<<: *defaults`")
}

fn duplicate_problem(key: &Node, first: Span) -> Diagnostic {
    let name = key.as_scalar().map(|scalar| quoted(&scalar.to_string())).unwrap_or_default();
    Diagnostic::warning(codes::DUPLICATE_KEY, format!("key {name} is given twice; the last one wins"))
        .at(key.span)
        .related(first, "first given here")
        .help("remove one of them")
}

/// A scalar as a Python dictionary key: `1`, `1.0` and `true` are equal.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Null,
    Int(i64),
    BigInt(Arc<BigInt>),
    /// The bits of a float that is not an integer in the range of `i64`.
    Float(u64),
    Str(Arc<str>),
    Timestamp(Date, Option<Time>),
}

const TWO_POW_63: f64 = (1_u64 << 63) as f64;

impl Key {
    fn of(node: &Node) -> Option<Self> {
        Some(match node.as_scalar()? {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Int(i64::from(*value)),
            Scalar::Int(value) => Self::Int(*value),
            Scalar::BigInt(value) => Self::BigInt(Arc::clone(value)),
            Scalar::Float(value) if value.fract() == 0.0 && value.abs() < TWO_POW_63 => {
                Self::Int(*value as i64)
            }
            Scalar::Float(value) => Self::Float(value.to_bits()),
            Scalar::Str(text) => Self::Str(Arc::clone(text)),
            Scalar::Timestamp(timestamp) => Self::Timestamp(timestamp.date, timestamp.time),
        })
    }
}
