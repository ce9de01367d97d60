//! Layers laid over each other, task by task and attribute by attribute.
//!
//! Tasks stand in the order in which they first appear, weak layers first; attributes of a task likewise. Nothing is
//! copied and no attribute is looked at before somebody asks: a merge costs as much as there are tasks, whatever is in
//! them, and a merged task points to its definitions.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};
use stoker_model::{Json, JsonMap, MergeMode, MergeOrder, Task};

use crate::finding::{Finding, codes};
use crate::layer::{Layer, Source, in_order};
use crate::metadata::{MergedMetadata, merge_metadata};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeRules {
    pub order: MergeOrder,
    pub mode: MergeMode,
}

/// All layers as one graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged<'a> {
    /// The layers, weak to strong. Places below are indices into this list.
    pub sources: Vec<Source>,
    pub tasks: Vec<MergedTask<'a>>,
    pub metadata: MergedMetadata,
    /// Conflicts between plugins.
    pub findings: Vec<Finding>,
}

/// What all layers together say about a task.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedTask<'a> {
    pub name: &'a str,
    /// Its layers and what they say, weak to strong; at least one.
    definitions: SmallVec<[(u32, &'a Task); 2]>,
    mode: MergeMode,
}

/// Layers by their place in [`Merged::sources`], ascending.
pub type LayerList = SmallVec<[u32; 4]>;

/// An attribute and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedField<'a> {
    /// The canonical name.
    pub name: &'a str,
    pub value: &'a Json,
    /// The layer whose value this is.
    pub set_by: u32,
    /// Layers that set it too and lost, weak to strong.
    pub overrode: LayerList,
}

impl<'a> Merged<'a> {
    /// A task by its name. For many lookups make a map.
    pub fn task(&self, name: &str) -> Option<&MergedTask<'a>> {
        self.tasks.iter().find(|task| task.name == name)
    }
}

impl<'a> MergedTask<'a> {
    /// The layers that define the task, weak to strong.
    pub fn defined_by(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.definitions.iter().map(|(layer_idx, _)| *layer_idx)
    }

    /// The definitions that count.
    fn effective(&self) -> &[(u32, &'a Task)] {
        let n_ignored = match self.mode {
            MergeMode::Attributes => 0,
            MergeMode::Replace => self.definitions.len() - 1,
        };
        &self.definitions[n_ignored..]
    }

    /// The value of an attribute: that of the strongest layer which has it.
    pub fn value(&self, name: &str) -> Option<&'a Json> {
        self.effective().iter().rev().find_map(|(_, task)| task.fields.get(name))
    }

    pub fn field(&self, name: &str) -> Option<MergedField<'a>> {
        let found = self.effective().iter().rev().find_map(|(layer_idx, task)| {
            task.fields.get_key_value(name).map(|(name, value)| (*layer_idx, name, value))
        });
        let (set_by, name, value) = found?;
        let weaker = self.definitions.iter().take_while(|(layer_idx, _)| *layer_idx < set_by);
        let losers = weaker.filter(|(_, task)| task.fields.contains_key(name));
        Some(MergedField { name, value, set_by, overrode: losers.map(|(layer_idx, _)| *layer_idx).collect() })
    }

    /// All attributes, in the order in which they first appear.
    pub fn fields(&self) -> impl Iterator<Item = MergedField<'a>> {
        let definitions = self.effective();
        definitions.iter().enumerate().flat_map(move |(at, (_, task))| {
            let is_new = move |name: &str| {
                !definitions[..at].iter().any(|(_, weaker)| weaker.fields.contains_key(name))
            };
            task.fields.keys().filter(move |name| is_new(name)).filter_map(|name| self.field(name))
        })
    }

    /// The merged task by itself. Copies all attributes.
    pub fn to_task(&self) -> Task {
        let fields: JsonMap = match self.effective() {
            [(_, only)] => only.fields.clone(),
            _ => self.fields().map(|field| (field.name.to_owned(), field.value.clone())).collect(),
        };
        Task { name: self.name.to_owned(), fields }
    }
}

/// Lays layers over each other, in the order of the rules whatever the order they are given in.
///
/// Two plugins that set one attribute of one task to different values are in conflict: the later one wins, and a
/// finding names both. Equal values are no conflict, for every definition of a task must repeat its type.
pub fn merge<'a>(layers: &[Layer<'a>], rules: MergeRules) -> Merged<'a> {
    let ordered = in_order(layers, rules.order);
    let sources: Vec<Source> = ordered.iter().map(|layer| layer.source.clone()).collect();
    // Layers mostly change tasks of the largest one.
    let n_tasks = ordered.iter().map(|layer| layer.tasks.len()).max().unwrap_or_default();
    let mut tasks: Vec<MergedTask<'a>> = Vec::with_capacity(n_tasks);
    let mut place_of: HashMap<&'a str, usize> = HashMap::with_capacity(n_tasks);
    let mut findings = Vec::new();
    for (layer_idx, layer) in (0_u32..).zip(&ordered) {
        for task in &layer.tasks {
            let place = *place_of.entry(&task.name).or_insert(tasks.len());
            match tasks.get_mut(place) {
                Some(known) => {
                    note_conflicts(known, task, layer_idx, &sources, &mut findings);
                    known.definitions.push((layer_idx, task));
                }
                None => tasks.push(MergedTask {
                    name: &task.name,
                    definitions: smallvec![(layer_idx, *task)],
                    mode: rules.mode,
                }),
            }
        }
    }
    let metadata = merge_metadata(ordered.iter().map(|layer| layer.metadata));
    Merged { sources, tasks, metadata, findings }
}

/// Reports where a plugin is about to overrule another one.
fn note_conflicts(
    known: &MergedTask<'_>,
    task: &Task,
    layer_idx: u32,
    sources: &[Source],
    findings: &mut Vec<Finding>,
) {
    let winner = &sources[layer_idx as usize];
    let is_plugin = |layer_idx: u32| sources[layer_idx as usize].is_plugin();
    if !winner.is_plugin() || !known.defined_by().any(is_plugin) {
        return;
    }
    let help = "plugins are laid in order of name and version: let only one of them say it";
    if known.mode == MergeMode::Replace {
        let Some((loser_idx, loser)) = known.definitions.last() else { return };
        if is_plugin(*loser_idx) && loser.fields != task.fields {
            let loser = &sources[*loser_idx as usize];
            let message = format!("{loser} and {winner} define it differently; {winner} wins");
            findings.push(
                Finding::warning(codes::PLUGIN_CONFLICT, message).at(&task.name, "").help(help.to_owned()),
            );
        }
        return;
    }
    for (name, value) in &task.fields {
        let Some(old) = known.field(name).filter(|old| is_plugin(old.set_by) && old.value != value) else {
            continue;
        };
        let loser = &sources[old.set_by as usize];
        let message = format!("{loser} and {winner} set `{name}` to different values; {winner} wins");
        let finding = Finding::warning(codes::PLUGIN_CONFLICT, message).at(&task.name, name.as_str());
        findings.push(finding.help(help.to_owned()));
    }
}

#[cfg(test)]
mod tests;
