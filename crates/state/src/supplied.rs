//! Documents of a user's own in place of computed ones.

use std::collections::HashMap;

use stoker_model::{Json, JsonMap};

use crate::NewState;
use crate::json::merged;

/// The uid under which the part stands that all nodes have in common.
pub const COMMON: &str = "common";
const UID: &str = "uid";

/// Supplied documents by uid.
pub type Supplied = HashMap<String, JsonMap>;

/// The documents that count: computed ones, or those that somebody supplied.
#[derive(Clone, Debug, PartialEq)]
pub struct Documents {
    common: JsonMap,
    /// In the order of the nodes, each with whether it is whole without the common part.
    nodes: Vec<(JsonMap, bool)>,
}

impl NewState {
    /// Puts supplied documents in the place of computed ones. Whoever supplied no common part supplied whole
    /// documents.
    pub fn with_supplied(&self, supplied: Supplied) -> Documents {
        self.clone().take_documents(supplied)
    }

    /// The same, and the computed documents that count are gone from here afterwards: those of a fleet are large.
    pub fn take_documents(&mut self, mut supplied: Supplied) -> Documents {
        let common = supplied.remove(COMMON);
        let is_whole = common.is_none();
        let documents = self.nodes.iter_mut().map(|node| match supplied.remove(&node.uid) {
            Some(document) => (document, is_whole),
            None => (std::mem::take(&mut node.document), false),
        });
        let nodes = documents.collect();
        Documents { common: common.unwrap_or_else(|| std::mem::take(&mut self.common)), nodes }
    }
}

impl Documents {
    /// About how many bytes the documents have when each is whole: what is common is there as often as there are nodes.
    pub fn whole_bytes(&self) -> usize {
        let common = serde_json::to_string(&self.common).map_or(0, |text| text.len());
        common.saturating_mul(self.nodes.iter().filter(|(_, is_whole)| !is_whole).count())
    }

    /// The common part, and after it what each node adds to it.
    pub fn apart(self) -> Vec<JsonMap> {
        std::iter::once(self.common).chain(self.nodes.into_iter().map(|(document, _)| document)).collect()
    }

    /// Each node with everything it sees.
    pub fn whole(self) -> Vec<JsonMap> {
        let whole = |(document, is_whole)| if is_whole { document } else { merged(&self.common, document) };
        self.nodes.into_iter().map(whole).collect()
    }

    /// The same for a plan: what all nodes have in common, and beside it what is each node's own.
    ///
    /// Where every node has a whole document of its own, what these have in common is found by comparing them. Where
    /// only some have, they lie over the computed common part: all nodes of a plan see one cluster.
    pub fn for_plan(mut self) -> (JsonMap, Vec<JsonMap>) {
        let are_whole = !self.nodes.is_empty() && self.nodes.iter().all(|(_, is_whole)| *is_whole);
        if are_whole {
            self.common = take_common(&mut self.nodes);
        }
        self.common.shift_remove(UID);
        (self.common, self.nodes.into_iter().map(|(document, _)| document).collect())
    }
}

/// Takes out what all documents have with equal values, but never `uid`: it tells nodes apart even where there is only
/// one.
fn take_common(nodes: &mut [(JsonMap, bool)]) -> JsonMap {
    let Some(((first, _), others)) = nodes.split_first() else { return JsonMap::new() };
    let is_common = |(key, value): &(&String, &Json)| {
        *key != UID && others.iter().all(|(other, _)| other.get(*key) == Some(value))
    };
    let common: JsonMap =
        first.iter().filter(is_common).map(|(key, value)| (key.clone(), value.clone())).collect();
    for (document, _) in nodes {
        document.retain(|key, _| !common.contains_key(key));
    }
    common
}
