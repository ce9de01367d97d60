//! User-supplied documents that replace computed ones.

use std::collections::HashMap;

use stoker_model::{Json, JsonMap};

use crate::DesiredState;
use crate::json::merge_into_copy;

/// The uid of the common document.
pub const COMMON_UID: &str = "common";
const UID: &str = "uid";

/// Supplied documents by uid.
pub type SuppliedDocuments = HashMap<String, JsonMap>;

/// The effective documents: computed, or supplied by the user.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveDocuments {
    common: JsonMap,
    /// In node order; the flag is set for a complete document, which is not overlaid on the common one.
    nodes: Vec<(JsonMap, bool)>,
}

impl DesiredState {
    /// Replaces computed documents by supplied ones. Without a supplied common document the supplied ones are
    /// complete.
    pub fn effective_documents(&self, supplied: SuppliedDocuments) -> EffectiveDocuments {
        self.clone().take_documents(supplied)
    }

    /// Like [`NewState::with_supplied`], but moves the computed documents out: those of a fleet are large.
    pub fn take_documents(&mut self, mut supplied: SuppliedDocuments) -> EffectiveDocuments {
        let common = supplied.remove(COMMON_UID);
        let is_whole = common.is_none();
        let documents = self.nodes.iter_mut().map(|node| match supplied.remove(&node.uid) {
            Some(document) => (document, is_whole),
            None => (std::mem::take(&mut node.document), false),
        });
        let nodes = documents.collect();
        EffectiveDocuments { common: common.unwrap_or_else(|| std::mem::take(&mut self.common)), nodes }
    }
}

impl EffectiveDocuments {
    /// Approximate size in bytes of [`Documents::whole`] due to the common document, which is repeated for
    /// each node.
    pub fn complete_bytes(&self) -> usize {
        let common = serde_json::to_string(&self.common).map_or(0, |text| text.len());
        common.saturating_mul(self.nodes.iter().filter(|(_, is_whole)| !is_whole).count())
    }

    /// The common document, followed by the own documents of the nodes.
    pub fn into_common_and_own(self) -> Vec<JsonMap> {
        std::iter::once(self.common).chain(self.nodes.into_iter().map(|(document, _)| document)).collect()
    }

    /// The complete document of each node.
    pub fn into_complete(self) -> Vec<JsonMap> {
        let whole =
            |(document, is_whole)| if is_whole { document } else { merge_into_copy(&self.common, document) };
        self.nodes.into_iter().map(whole).collect()
    }

    /// The common document and the own documents of the nodes, for planning.
    ///
    /// If every node has a complete document, their common part is extracted by comparison. If only some
    /// have, these are overlaid on the computed common document: all nodes of a plan see one cluster.
    pub fn into_plan_documents(mut self) -> (JsonMap, Vec<JsonMap>) {
        let are_whole = !self.nodes.is_empty() && self.nodes.iter().all(|(_, is_whole)| *is_whole);
        if are_whole {
            self.common = take_common(&mut self.nodes);
        }
        self.common.shift_remove(UID);
        (self.common, self.nodes.into_iter().map(|(document, _)| document).collect())
    }
}

/// Removes the top-level keys that all documents have with equal values and returns them. `uid` is never
/// common: it identifies a node even if there is only one.
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
