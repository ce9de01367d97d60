//! Checks of placement: unknown roles and tags, invalid patterns, and tasks that run nowhere.

use std::collections::HashMap;

use stoker_diagnostics::Diagnostic;
use stoker_model::{Json, TaskType};
use stoker_yaql::eval::suggest::closest_name;

use super::budget::{Budget, COMPILE_STEPS};
use super::links::items;
use super::placement::{PLACEMENT_FIELDS, deciding_field};
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
        findings.extend(self.ignored_fields(definition));
        findings.extend(unplaced(definition, subject).map(|finding| finding.task(task.name, "")));
    }

    /// Placement fields that have no effect because an earlier layer sets a field that takes precedence.
    fn ignored_fields(&self, definition: &Definition<'_, 'a>) -> Vec<Diagnostic> {
        let task = definition.task;
        let deciding = deciding_field(task).and_then(|name| Some((name, task.field(name)?.set_by)));
        let Some((deciding, set_by)) = deciding.filter(|_| !definition.is_stage()) else { return Vec::new() };
        let layer = self.sources[set_by as usize].label();
        let later = PLACEMENT_FIELDS
            .into_iter()
            .filter(|name| *name != deciding && task.field(name).is_some_and(|field| field.set_by > set_by));
        let finding = |name: &str| {
            let message =
                format!("`{name}` has no effect: `{deciding}` takes precedence, which layer {layer} sets");
            let help = format!("set `{deciding}` in this layer");
            Diagnostic::warning(codes::IGNORED_PLACEMENT, message).help(help).task(task.name, name)
        };
        later.map(finding).collect()
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
