//! Merging of layers, task by task and attribute by attribute.
//!
//! Tasks are in order of first appearance, weakest layer first; so are the attributes of a task. Merging
//! copies and reads no attributes: its cost is proportional to the number of tasks, and a merged task refers
//! to its definitions.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap, MergeMode, MergeOrder, Task};

use crate::codes;
use crate::layer::{Layer, Source, in_order};
use crate::metadata::{MergedMetadata, merge_metadata};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeRules {
    pub order: MergeOrder,
    pub mode: MergeMode,
}

/// All layers merged into one graph.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedGraph<'a> {
    /// The layers, weakest first. Layer indices refer to this list.
    pub sources: Vec<Source>,
    pub tasks: Vec<MergedTask<'a>>,
    pub metadata: MergedMetadata,
    /// Conflicts between plugins.
    pub findings: Vec<Diagnostic>,
}

/// The merged definition of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedTask<'a> {
    pub name: &'a str,
    /// Layer indices and definitions, weakest first; at least one.
    definitions: SmallVec<[(u32, &'a Task); 2]>,
    mode: MergeMode,
}

/// Indices into [`MergedGraph::sources`], ascending.
pub type LayerList = SmallVec<[u32; 4]>;

/// An attribute with its provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedField<'a> {
    /// The canonical name.
    pub name: &'a str,
    pub value: &'a Json,
    /// The layer that the value comes from.
    pub set_by: u32,
    /// Weaker layers whose values were overridden, weakest first.
    pub overridden_layers: LayerList,
}

impl<'a> MergedGraph<'a> {
    /// Looks up a task by name in linear time.
    pub fn task(&self, name: &str) -> Option<&MergedTask<'a>> {
        self.tasks.iter().find(|task| task.name == name)
    }
}

impl<'a> MergedTask<'a> {
    /// Returns the layers that define the task, weakest first.
    pub fn defined_by(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.definitions.iter().map(|(layer_idx, _)| *layer_idx)
    }

    /// Returns the definitions that contribute attributes in the merge mode.
    fn effective(&self) -> &[(u32, &'a Task)] {
        let n_ignored = match self.mode {
            MergeMode::Attributes => 0,
            MergeMode::Replace => self.definitions.len() - 1,
        };
        &self.definitions[n_ignored..]
    }

    /// Returns the value of an attribute, from the strongest layer that sets it.
    pub fn value(&self, name: &str) -> Option<&'a Json> {
        self.effective().iter().rev().find_map(|(_, task)| task.fields.get(name))
    }

    pub fn field(&self, name: &str) -> Option<MergedField<'a>> {
        let strongest = self.effective().iter().rev().find_map(|(layer_idx, task)| {
            task.fields.get_key_value(name).map(|(name, value)| (*layer_idx, name, value))
        });
        let (set_by, name, value) = strongest?;
        let weaker = self.definitions.iter().take_while(|(layer_idx, _)| *layer_idx < set_by);
        let losers = weaker.filter(|(_, task)| task.fields.contains_key(name));
        Some(MergedField {
            name,
            value,
            set_by,
            overridden_layers: losers.map(|(layer_idx, _)| *layer_idx).collect(),
        })
    }

    /// Returns all attributes, in order of first appearance.
    pub fn fields(&self) -> impl Iterator<Item = MergedField<'a>> {
        let definitions = self.effective();
        definitions.iter().enumerate().flat_map(move |(at, (_, task))| {
            let is_new = move |name: &str| {
                !definitions[..at].iter().any(|(_, weaker)| weaker.fields.contains_key(name))
            };
            task.fields.keys().filter(move |name| is_new(name)).filter_map(|name| self.field(name))
        })
    }

    /// Returns the merged task as an independent value. Copies all attributes.
    pub fn to_task(&self) -> Task {
        let fields: JsonMap = match self.effective() {
            [(_, only)] => only.fields.clone(),
            _ => self.fields().map(|field| (field.name.to_owned(), field.value.clone())).collect(),
        };
        Task { name: self.name.to_owned(), fields }
    }
}

/// Merges layers in the order of precedence that the rules define, independent of the order of `layers`.
///
/// If two plugins set one attribute of a task to different values, the later plugin wins and a finding names
/// both. Equal values are not a conflict, because every definition of a task must repeat its type.
pub fn merge<'a>(layers: &[Layer<'a>], rules: MergeRules) -> MergedGraph<'a> {
    let ordered = in_order(layers, rules.order);
    let sources: Vec<Source> = ordered.iter().map(|layer| layer.source.clone()).collect();
    // Most layers only modify tasks of the largest one.
    let n_tasks = ordered.iter().map(|layer| layer.tasks.len()).max().unwrap_or_default();
    let mut tasks: Vec<MergedTask<'a>> = Vec::with_capacity(n_tasks);
    let mut index_of: HashMap<&'a str, usize> = HashMap::with_capacity(n_tasks);
    let mut findings = Vec::new();
    for (layer_idx, layer) in (0_u32..).zip(&ordered) {
        for task in &layer.tasks {
            let task_idx = *index_of.entry(&task.name).or_insert(tasks.len());
            match tasks.get_mut(task_idx) {
                Some(merged_task) => {
                    report_conflicts(merged_task, task, layer_idx, &sources, &mut findings);
                    merged_task.definitions.push((layer_idx, task));
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
    MergedGraph { sources, tasks, metadata, findings }
}

/// Reports attributes of one plugin that another plugin overrides.
fn report_conflicts(
    merged: &MergedTask<'_>,
    task: &Task,
    layer_idx: u32,
    sources: &[Source],
    findings: &mut Vec<Diagnostic>,
) {
    let winner = &sources[layer_idx as usize];
    let is_plugin = |layer_idx: u32| sources[layer_idx as usize].is_plugin();
    if !winner.is_plugin() || !merged.defined_by().any(is_plugin) {
        return;
    }
    let help = "plugins are merged in order of name and version; set the value in only one of them";
    if merged.mode == MergeMode::Replace {
        let Some((loser_idx, loser)) = merged.definitions.last() else { return };
        if is_plugin(*loser_idx) && loser.fields != task.fields {
            let loser = &sources[*loser_idx as usize];
            let message =
                format!("{loser} and {winner} define the task differently; {winner} takes precedence");
            findings
                .push(Diagnostic::warning(codes::PLUGIN_CONFLICT, message).task(&task.name, "").help(help));
        }
        return;
    }
    for (name, value) in &task.fields {
        let Some(old) = merged.field(name).filter(|old| is_plugin(old.set_by) && old.value != value) else {
            continue;
        };
        let loser = &sources[old.set_by as usize];
        let message =
            format!("{loser} and {winner} set `{name}` to different values; {winner} takes precedence");
        let finding = Diagnostic::warning(codes::PLUGIN_CONFLICT, message).task(&task.name, name.as_str());
        findings.push(finding.help(help));
    }
}

#[cfg(test)]
mod tests;
