//! The keys in which two documents differ.

use std::collections::HashSet;

use stoker_state::Document;

/// Looked up for every node. A fast non-keyed hash is safe: the authors of keys gain nothing from collisions.
pub(crate) type Keys = HashSet<String, foldhash::fast::FixedState>;

/// Stands for all keys that are not strings.
pub(crate) const OTHER: &str = "\0";

/// The top-level keys in which two documents differ.
#[derive(Debug, Default)]
pub(crate) struct Differing {
    /// Keys with unequal values.
    pub(crate) changed: Keys,
    /// Keys with non-identical values: if `1` became `true`, the values are equal but distinguishable. An
    /// expression that reads none of these keys has the same result over both documents.
    pub(crate) touched: Keys,
}

impl Differing {
    pub(crate) fn between(a: &Document, b: &Document) -> Self {
        let (Some(a), Some(b)) = (a.map(), b.map()) else { return Self::default() };
        let mut differing = Self::default();
        for key in a.iter().chain(b.iter()).map(|(key, _)| key) {
            let (is_changed, is_touched) = match (a.get(key), b.get(key)) {
                (Ok(Some(a)), Ok(Some(b))) => (!a.equals(b), a.identity() != b.identity()),
                _ => (true, true),
            };
            let key = key.as_str().unwrap_or(OTHER);
            if is_changed {
                differing.changed.insert(key.to_owned());
            }
            if is_changed || is_touched {
                differing.touched.insert(key.to_owned());
            }
        }
        differing
    }
}
