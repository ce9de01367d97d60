//! A map with known keys, read key by key.

use stoker_diagnostics::{Diagnostics, quoted};
use stoker_yaml::{Node, NodeKind, Scalar};

use super::{did_you_mean, head, kind_name, report_wrong_type};
use crate::codes;

/// A field of a map: absent, null, or a value.
///
/// A partial update distinguishes all three: keep, remove, set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FieldUpdate<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> FieldUpdate<T> {
    /// Returns the value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Reports whether the key is present, possibly with null.
    pub fn is_present(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Applies the field to an existing value.
    pub fn apply(self, old: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *old = None,
            Self::Value(value) => *old = Some(value),
        }
    }
}

/// The keys of a map. Readers take them one by one; [`Fields::finish`] reports the remaining keys as unknown.
#[derive(Debug)]
pub struct Fields<'n, 'p> {
    node: &'n Node,
    /// The document that contains the map, for readers of expressions; empty unless it was given.
    text: &'n str,
    entries: &'n [(Node, Node)],
    /// For each entry, whether a reader consumed it.
    is_taken: Vec<bool>,
    /// All keys that were requested, for suggestions.
    requested: Vec<&'static str>,
    problems: &'p mut Diagnostics,
}

impl<'n, 'p> Fields<'n, 'p> {
    /// Reads a map; reports a problem and returns `None` for other nodes.
    pub fn new(node: &'n Node, problems: &'p mut Diagnostics) -> Option<Self> {
        let Some(entries) = node.as_map() else {
            report_wrong_type(node, "a map", problems);
            return None;
        };
        let is_taken = vec![false; entries.len()];
        Some(Self { node, text: "", entries, is_taken, requested: Vec::new(), problems })
    }

    /// Like [`Self::new`], with the document that contains the map, for readers that point into its text.
    pub fn of_document(node: &'n Node, text: &'n str, problems: &'p mut Diagnostics) -> Option<Self> {
        Some(Self { text, ..Self::new(node, problems)? })
    }

    /// Reads a required key.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node, &mut Diagnostics) -> Option<T>,
    ) -> Option<T> {
        let Some(node) = self.take(key) else {
            self.report_missing(key);
            return None;
        };
        self.problems.in_key(key, |problems| read(node, problems))
    }

    /// Reports which of these keys are absent. For a request that requires keys which other requests with the
    /// same reader may omit.
    pub fn require(&mut self, keys: &[&'static str]) {
        for key in keys {
            if self.node.get(key).is_none() {
                self.report_missing(key);
            }
        }
    }

    /// Reads an optional key. Null is passed to `read`; see [`super::nullable`] and [`Fields::update`].
    pub fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node, &mut Diagnostics) -> Option<T>,
    ) -> Option<T> {
        let node = self.take(key)?;
        self.problems.in_key(key, |problems| read(node, problems))
    }

    /// Reads a key that may be absent, null or a value. An invalid value is reported and counts as absent.
    pub fn update<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node, &mut Diagnostics) -> Option<T>,
    ) -> FieldUpdate<T> {
        match self.take(key) {
            None => FieldUpdate::Absent,
            Some(Node { kind: NodeKind::Scalar(Scalar::Null), .. }) => FieldUpdate::Null,
            Some(node) => {
                let value = self.problems.in_key(key, |problems| read(node, problems));
                value.map_or(FieldUpdate::Absent, FieldUpdate::Value)
            }
        }
    }

    /// Returns the node under a key, without reading it.
    pub fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.requested.push(key);
        let entry_idx = self.entries.iter().position(|(name, _)| name.as_str() == Some(key))?;
        self.is_taken[entry_idx] = true;
        Some(&self.entries[entry_idx].1)
    }

    /// Accepts keys without reading them, such as those that occur only in responses.
    pub fn ignore(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.take(key);
        }
    }

    /// Returns the collector, for problems of the map as a whole.
    pub fn problems(&mut self) -> &mut Diagnostics {
        self.problems
    }

    /// Returns the map itself.
    pub fn node(&self) -> &'n Node {
        self.node
    }

    /// Returns the document that contains the map; empty unless it was given.
    pub fn text(&self) -> &'n str {
        self.text
    }

    /// Returns the remaining keys and values, for open maps; `finish` then reports nothing.
    pub fn remaining(&mut self) -> Vec<(&'n str, &'n Node)> {
        let mut rest = Vec::new();
        for (entry_idx, (key, value)) in self.entries.iter().enumerate() {
            if !std::mem::replace(&mut self.is_taken[entry_idx], true) {
                rest.extend(key_text(key, self.problems).map(|name| (name, value)));
            }
        }
        rest
    }

    /// Like [`Self::remaining`], for keys that users may add. A key that resembles a known one, or one of `stored`, which
    /// has no reader, is probably a typing error and is reported.
    pub fn user_defined(&mut self, stored: &[&'static str]) -> Vec<(&'n str, &'n Node)> {
        let names: Vec<&str> = self.requested.iter().chain(stored).copied().collect();
        let is_known = |name: &str| stored.contains(&name);
        let mut fields = Vec::new();
        for (name, node) in self.remaining() {
            let help =
                if is_known(name) { None } else { did_you_mean(name, names.iter().copied(), self.problems) };
            match help {
                None => fields.push((name, node)),
                Some(help) => {
                    let message = format!("unknown key {}", quoted(name));
                    self.problems.in_key(name, |problems| {
                        problems.error(codes::UNKNOWN_KEY, node.span, message).set_help(help);
                    });
                }
            }
        }
        fields
    }

    /// Reports every remaining key as an error and returns the collector.
    pub fn finish(self) -> &'p mut Diagnostics {
        self.report_rest(true)
    }

    /// Reports every remaining key as a warning, for open maps in which an unknown key is probably a typing
    /// error.
    pub fn finish_with_warnings(self) -> &'p mut Diagnostics {
        self.report_rest(false)
    }

    fn report_missing(&mut self, key: &'static str) {
        let span = head(self.node);
        self.problems.in_key(key, |problems| {
            problems.error(codes::MISSING, span, format!("`{key}` is missing"));
        });
    }

    fn report_rest(self, is_error: bool) -> &'p mut Diagnostics {
        for ((key, _), _) in self.entries.iter().zip(&self.is_taken).filter(|(_, is_taken)| !**is_taken) {
            let Some(name) = key_text(key, self.problems) else { continue };
            let help = did_you_mean(name, self.requested.iter().copied(), self.problems)
                .unwrap_or_else(|| format!("known keys: {}", self.requested.join(", ")));
            let message = format!("unknown key {}", quoted(name));
            self.problems.in_key(name, |problems| {
                let problem = if is_error {
                    problems.error(codes::UNKNOWN_KEY, key.span, message)
                } else {
                    problems.warning(codes::UNKNOWN_KEY, key.span, message)
                };
                problem.set_help(help);
            });
        }
        self.problems
    }
}

/// Returns a key as text; reports keys that YAML parses as another type.
pub(crate) fn key_text<'n>(key: &'n Node, problems: &mut Diagnostics) -> Option<&'n str> {
    if let Some(text) = key.as_str() {
        return Some(text);
    }
    let scalar_text = key.as_scalar().map(ToString::to_string).unwrap_or_default();
    let message = format!("a key must be text, {} is {}", quoted(&scalar_text), kind_name(key));
    problems.error(codes::KEY, key.span, message).set_help("put it in quotes");
    None
}
