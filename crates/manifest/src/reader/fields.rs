//! A map with known keys, read key by key.

use stoker_yaml::{Node, NodeKind, Scalar};

use super::{head, kind_name, wrong_kind};
use crate::problem::{Problems, codes, quoted};

/// What a map says about a key: nothing, null, or something.
///
/// A partial update needs all three: leave it alone, take it away, set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Given<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Given<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Whether the key was there at all.
    pub fn is_given(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Does to `old` what the map says.
    pub fn apply(self, old: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *old = None,
            Self::Value(value) => *old = Some(value),
        }
    }
}

/// The keys of a map: taken one by one, the rest reported by [`Fields::finish`].
#[derive(Debug)]
pub struct Fields<'n, 'p> {
    node: &'n Node,
    entries: &'n [(Node, Node)],
    /// Per entry, whether somebody asked for it.
    is_taken: Vec<bool>,
    /// Every key somebody asked for, for suggestions.
    known: Vec<&'static str>,
    problems: &'p mut Problems,
}

impl<'n, 'p> Fields<'n, 'p> {
    /// The keys of a node; none, and a problem, if it is no map.
    pub fn new(node: &'n Node, problems: &'p mut Problems) -> Option<Self> {
        let Some(entries) = node.as_map() else {
            wrong_kind(node, "a map", problems);
            return None;
        };
        Some(Self { node, entries, is_taken: vec![false; entries.len()], known: Vec::new(), problems })
    }

    /// A key that has to be there.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let Some(node) = self.take(key) else {
            let span = head(self.node);
            self.problems.in_key(key, |problems| {
                problems.error(codes::MISSING, span, format!("`{key}` is missing"));
            });
            return None;
        };
        self.problems.in_key(key, |problems| read(node, problems))
    }

    /// A key that may be there. Null is read like anything else; see [`super::nullable`] and [`Fields::given`].
    pub fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let node = self.take(key)?;
        self.problems.in_key(key, |problems| read(node, problems))
    }

    /// A key that may be absent, null, or something. Something wrong is a problem, and absent.
    pub fn given<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node, &mut Problems) -> Option<T>,
    ) -> Given<T> {
        match self.take(key) {
            None => Given::Absent,
            Some(Node { kind: NodeKind::Scalar(Scalar::Null), .. }) => Given::Null,
            Some(node) => {
                let value = self.problems.in_key(key, |problems| read(node, problems));
                value.map_or(Given::Absent, Given::Value)
            }
        }
    }

    /// The node under a key, without reading it.
    pub fn take(&mut self, key: &'static str) -> Option<&'n Node> {
        self.known.push(key);
        let entry_idx = self.entries.iter().position(|(name, _)| name.as_str() == Some(key))?;
        self.is_taken[entry_idx] = true;
        Some(&self.entries[entry_idx].1)
    }

    /// Keys that may be there and mean nothing, such as those that come with an answer of ours.
    pub fn ignore(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.take(key);
        }
    }

    /// Where problems go, to report one of the map as a whole.
    pub fn problems(&mut self) -> &mut Problems {
        self.problems
    }

    /// The map itself.
    pub fn node(&self) -> &'n Node {
        self.node
    }

    /// The keys nobody asked for and their values, for maps that are open; nothing is left for `finish` to report.
    pub fn rest(&mut self) -> Vec<(&'n str, &'n Node)> {
        let mut rest = Vec::new();
        for (entry_idx, (key, value)) in self.entries.iter().enumerate() {
            if !std::mem::replace(&mut self.is_taken[entry_idx], true) {
                rest.extend(key_text(key, self.problems).map(|name| (name, value)));
            }
        }
        rest
    }

    /// Reports every key nobody asked for, and gives the problems back.
    pub fn finish(self) -> &'p mut Problems {
        self.report_rest(true)
    }

    /// The same as warnings, for maps whose keys nobody forbids but which are probably a slip.
    pub fn finish_gently(self) -> &'p mut Problems {
        self.report_rest(false)
    }

    fn report_rest(self, is_error: bool) -> &'p mut Problems {
        for ((key, _), _) in self.entries.iter().zip(&self.is_taken).filter(|(_, is_taken)| !**is_taken) {
            let Some(name) = key_text(key, self.problems) else { continue };
            let help = self
                .problems
                .did_you_mean(name, self.known.iter().copied())
                .unwrap_or_else(|| format!("known here: {}", self.known.join(", ")));
            let message = format!("unknown key {}", quoted(name));
            self.problems.in_key(name, |problems| {
                let problem = if is_error {
                    problems.error(codes::UNKNOWN_KEY, key.span, message)
                } else {
                    problems.warning(codes::UNKNOWN_KEY, key.span, message)
                };
                problem.help(help);
            });
        }
        self.problems
    }
}

/// A key as text; one that YAML takes for something else is a problem.
pub(crate) fn key_text<'n>(key: &'n Node, problems: &mut Problems) -> Option<&'n str> {
    if let Some(text) = key.as_str() {
        return Some(text);
    }
    let shown = key.as_scalar().map(ToString::to_string).unwrap_or_default();
    let message = format!("a key must be text, {} is {}", quoted(&shown), kind_name(key));
    problems.error(codes::KEY, key.span, message).help("put it in quotes".to_owned());
    None
}
