//! Merging of layers, task by task and attribute by attribute.
//!
//! Tasks are in order of first appearance, weakest layer first; so are the attributes of a task. Merging
//! copies and reads no attributes: its cost is proportional to the number of tasks, and a merged task refers
//! to its definitions.
//!
//! The placement fields `tags`, `roles` and `groups` are one attribute: the strongest layer that sets any of them
//! replaces the placement of all weaker layers.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};
use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, JsonMap, MergeMode, MergeOrder, PLACEMENT_FIELDS, Task};

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
    /// Weaker layers whose values were overridden, weakest first. For a placement field, the layers that set any
    /// placement field.
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

    /// Reports whether the strongest definition replaces all others.
    pub(crate) fn replaces(&self) -> bool {
        self.mode == MergeMode::Replace
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
        self.definition_of(name)?.1.fields.get(name)
    }

    /// Returns the strongest definition that sets an attribute.
    fn definition_of(&self, name: &str) -> Option<(u32, &'a Task)> {
        self.effective().iter().rev().find(|(_, task)| sets(task, name)).copied()
    }

    /// Returns an attribute with its provenance. A placement field is absent unless the layer that places the task
    /// sets it.
    pub fn field(&self, name: &str) -> Option<MergedField<'a>> {
        let (set_by, task) = self.definition_of(name)?;
        let (name, value) = task.fields.get_key_value(name)?;
        let weaker = self.definitions.iter().take_while(|(layer_idx, _)| *layer_idx < set_by);
        let losers = weaker.filter(|(_, task)| sets(task, name));
        Some(MergedField {
            name,
            value,
            set_by,
            overridden_layers: losers.map(|(layer_idx, _)| *layer_idx).collect(),
        })
    }

    /// Returns the definitions that set placement fields with the layer of each, weakest first.
    pub(crate) fn placements(&self) -> impl DoubleEndedIterator<Item = (u32, &'a Task)> {
        let is_placing = |(_, task): &(u32, &'a Task)| sets(task, PLACEMENT_FIELDS[0]);
        self.definitions.iter().copied().filter(is_placing)
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

/// Reports whether a definition sets an attribute. The placement fields count as one attribute.
fn sets(task: &Task, name: &str) -> bool {
    let is_set = |name: &str| task.fields.contains_key(name);
    if PLACEMENT_FIELDS.contains(&name) { PLACEMENT_FIELDS.into_iter().any(is_set) } else { is_set(name) }
}

/// Merges layers in the order of precedence that the rules define, independent of the order of `layers`.
///
/// If two plugins set one attribute of a task to different values, the later plugin wins and a finding names
/// both. Equal values are not a conflict.
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

/// Reports a task that an earlier plugin defines too, with the attributes that differ.
fn report_conflicts(
    merged: &MergedTask<'_>,
    task: &Task,
    layer_idx: u32,
    sources: &[Source],
    findings: &mut Vec<Diagnostic>,
) {
    let winner = &sources[layer_idx as usize];
    let plugin = |layer_idx: u32| Some(&sources[layer_idx as usize]).filter(|source| source.is_plugin());
    let Some(other) = merged.defined_by().rev().find_map(plugin).filter(|_| winner.is_plugin()) else {
        return;
    };
    let report = |path: &str, message: String, help: &str| {
        Diagnostic::warning(codes::PLUGIN_CONFLICT, message).task(&task.name, path).help(help)
    };
    if merged.mode == MergeMode::Replace {
        let message = format!("{other} and {winner} define the task; {winner} takes precedence");
        let help = "plugins are merged in order of name and version; define the task in only one of them";
        findings.push(report("", message, help));
        return;
    }
    let conflicts = conflicts(merged, task).filter_map(|(name, set_by)| Some((name, plugin(set_by)?)));
    let n_findings = findings.len();
    findings.extend(conflicts.map(|(name, loser)| {
        let what =
            if PLACEMENT_FIELDS.contains(&name) { "the placement".to_owned() } else { format!("`{name}`") };
        let message =
            format!("{loser} and {winner} set {what} to different values; {winner} takes precedence");
        let help = "plugins are merged in order of name and version; set the value in only one of them";
        report(name, message, help)
    }));
    if findings.len() == n_findings {
        let message = format!("{other} and {winner} define the task; their attributes are merged");
        let help = "plugins are merged in order of name and version; rename the task unless this is intended";
        findings.push(report("", message, help));
    }
}

/// Returns the attributes that a definition changes, each with the layer that set it before. The placement fields count as
/// one attribute.
fn conflicts<'t>(merged: &'t MergedTask<'_>, task: &'t Task) -> impl Iterator<Item = (&'t str, u32)> {
    let is_placement = |name: &str| PLACEMENT_FIELDS.contains(&name);
    let placement = task.fields.keys().map(String::as_str).find(|name| is_placement(name));
    let names = task.fields.keys().map(String::as_str);
    let names = names.filter(move |name| !is_placement(name) || Some(*name) == placement);
    names.filter_map(move |name| {
        let (set_by, old) = merged.definition_of(name)?;
        let differs = |name: &str| old.fields.get(name) != task.fields.get(name);
        let differs =
            if is_placement(name) { PLACEMENT_FIELDS.into_iter().any(differs) } else { differs(name) };
        differs.then_some((name, set_by))
    })
}

#[cfg(test)]
mod tests;
