//! Checks of placement: unknown roles and tags, invalid patterns, and tasks that run nowhere.

use std::collections::HashMap;

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, PLACEMENT_FIELDS, Task, TaskType, placement_field};
use stoker_yaql::eval::suggest::closest_name;

use super::budget::{Budget, COMPILE_STEPS};
use super::links::items;
use super::{Definition, Scope, Subject};
use crate::Source;
use crate::codes;
use crate::pattern::NamePattern;

/// Checks role and tag names; results are cached by name.
pub(super) struct PlacementChecker<'a, 'o> {
    /// All roles and tags, if known.
    all: Option<&'o [String]>,
    by_name: HashMap<&'a str, Option<Diagnostic>>,
    /// Layers of the graph.
    sources: &'o [Source],
}

impl<'a, 'o> PlacementChecker<'a, 'o> {
    pub(super) fn new(all: Option<&'o [String]>, sources: &'o [Source]) -> Self {
        Self { all, by_name: HashMap::new(), sources }
    }

    pub(super) fn check(
        &mut self,
        definition: &Definition<'_, 'a>,
        subject: &Subject<'_, 'a>,
        budget: &mut Budget,
        findings: &mut Vec<Diagnostic>,
    ) {
        let task = definition.task;
        let mut report = |path: String, finding: Diagnostic| findings.push(finding.task(task.name, path));
        if !definition.is_stage() {
            for field in PLACEMENT_FIELDS {
                self.check_value(task.value(field), field, budget, &mut report);
            }
        }
        for field in ["cross_depends", "cross_depended_by"] {
            for (item_idx, relation) in items(task.value(field)) {
                for key in ["role", "tags"] {
                    let path = format!("{field}[{item_idx}].{key}");
                    self.check_value(relation.get(key), &path, budget, &mut report);
                }
            }
        }
        findings.extend(self.replaced_placement(definition));
        findings.extend(unplaced(definition, subject).map(|finding| finding.task(task.name, "")));
    }

    /// Reports a layer that replaces the placement of another layer under another name: the earlier field is still in
    /// that layer, but has no effect.
    fn replaced_placement(&self, definition: &Definition<'_, 'a>) -> Option<Diagnostic> {
        let mut placements = definition.task.placements().rev();
        let (layer_idx, task) = placements.next().filter(|_| !definition.is_stage())?;
        let decides = |(layer_idx, task): (u32, &'a Task)| {
            Some((layer_idx, placement_field(|field| task.fields.get(field))?))
        };
        let is_other = |(_, field): &(u32, &str)| !task.fields.contains_key(*field);
        let (replaced_idx, replaced) = placements.filter_map(decides).find(is_other)?;
        let field = PLACEMENT_FIELDS.into_iter().find(|field| task.fields.contains_key(*field))?;
        let [layer, weaker] = [layer_idx, replaced_idx].map(|layer_idx| &self.sources[layer_idx as usize]);
        let message = format!("`{field}` of {layer} replaces `{replaced}` of {weaker}");
        let help = "`role`, `roles`, `groups` and `tags` are one attribute when layers are merged: \
                    list every role and tag of the task in the later layer";
        let finding = Diagnostic::warning(codes::REPLACED_PLACEMENT, message).help(help);
        Some(finding.task(definition.task.name, field))
    }

    fn check_value(
        &mut self,
        value: Option<&'a Json>,
        path: &str,
        budget: &mut Budget,
        report: &mut impl FnMut(String, Diagnostic),
    ) {
        let is_list = matches!(value, Some(Json::Array(_)));
        for (item_idx, item) in items(value) {
            let Some(name) = item.as_str() else { continue };
            let all = self.all;
            let finding = self.by_name.entry(name).or_insert_with(|| check_name(name, all, budget));
            if let Some(finding) = finding {
                let path = if is_list { format!("{path}[{item_idx}]") } else { path.to_owned() };
                report(path, finding.clone());
            }
        }
    }
}

fn check_name(name: &str, places: Option<&[String]>, budget: &mut Budget) -> Option<Diagnostic> {
    let n_places = places.unwrap_or_default().len() as u64;
    let steps = n_places + if NamePattern::is_regex(name) { COMPILE_STEPS } else { 0 };
    if matches!(name, "*" | "master" | "self") || !budget.spend(steps) {
        return None;
    }
    let pattern = match NamePattern::new(name) {
        Ok(pattern) => pattern,
        Err(why) => {
            return Some(Diagnostic::error(codes::PATTERN, format!("invalid pattern `{name}`: {why}")));
        }
    };
    let places = places?;
    let is_match = |place: &String| pattern.matches(place) || pattern.matches(&format!("primary-{place}"));
    if places.iter().any(is_match) {
        return None;
    }
    if NamePattern::is_regex(name) {
        return Some(Diagnostic::warning(codes::UNKNOWN_ROLE, format!("no role or tag matches `{name}`")));
    }
    let bare = name.strip_prefix("primary-").unwrap_or(name);
    let best = closest_name(bare, places.iter().map(String::as_str));
    let help = best.map(|best| format!("did you mean `{}{best}`?", &name[..name.len() - bare.len()]));
    Some(
        Diagnostic::warning(codes::UNKNOWN_ROLE, format!("no node can have the role or tag `{name}`"))
            .help_if(help),
    )
}

/// Reports a task without placement. A task of type `skipped` needs none.
fn unplaced(definition: &Definition<'_, '_>, subject: &Subject<'_, '_>) -> Option<Diagnostic> {
    let is_exempt =
        matches!(definition.task_type, Some(TaskType::Stage | TaskType::Skipped | TaskType::Noop));
    let is_listed = subject.groups_of.contains_key(definition.task.name);
    if subject.scope == Scope::Layer || is_exempt || is_listed || !definition.placement.is_empty() {
        return None;
    }
    let message = if definition.is_group() {
        "the group is on no node: it has no `roles`, `groups` or `tags`"
    } else {
        "the task runs nowhere: it has no `roles`, `groups` or `tags`, and no group lists it"
    };
    Some(Diagnostic::warning(codes::UNPLACED, message))
}
