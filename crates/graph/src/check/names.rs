//! Resolution of task names and patterns, and checks of references.

use std::collections::HashMap;
use std::rc::Rc;

use stoker_diagnostics::Diagnostic;
use stoker_model::TaskIdx;
use stoker_yaql::eval::suggest::closest_name;

use super::budget::{Budget, COMPILE_STEPS};
use super::links::{Link, LinkKind};
use super::not_executed::InertTriggers;
use super::{Definition, Scope, Subject};
use crate::codes;
use crate::merge::MergedGraph;
use crate::pattern::NamePattern;

/// Maximum number of name comparisons for suggestions. A suggestion compares a name with all others, so in a
/// large graph only the first unknown names get one.
const COMPARISONS_MAX: usize = 500_000;

/// Tasks by name and by pattern; each pattern is compiled and matched once.
pub(super) struct Names<'a> {
    pub(super) all: Vec<&'a str>,
    index_of: HashMap<&'a str, TaskIdx>,
    resolved: HashMap<&'a str, Rc<Resolution>>,
    n_suggestions: usize,
    pub(super) budget: Budget,
}

/// The result of resolving a name.
pub(super) enum Resolution {
    /// Indices of the matching tasks, in ascending order.
    Tasks(Vec<TaskIdx>),
    /// An invalid pattern, with the reason.
    Broken(String),
    /// Not resolved, because the step budget is exhausted.
    Unknown,
}

impl Resolution {
    pub(super) fn tasks(&self) -> &[TaskIdx] {
        match self {
            Self::Tasks(tasks) => tasks,
            Self::Broken(_) | Self::Unknown => &[],
        }
    }
}

impl<'a> Names<'a> {
    pub(super) fn new(merged: &MergedGraph<'a>, budget: Budget) -> Self {
        let all: Vec<&str> = merged.tasks.iter().map(|task| task.name).collect();
        let index_of =
            TaskIdx::first(all.len()).zip(&all).map(|(task_idx, name)| (*name, task_idx)).collect();
        Self { all, index_of, resolved: HashMap::new(), n_suggestions: 0, budget }
    }

    pub(super) fn resolve(&mut self, name: &'a str) -> Rc<Resolution> {
        if let Some(resolution) = self.resolved.get(name) {
            return resolution.clone();
        }
        let is_affordable =
            !NamePattern::is_regex(name) || self.budget.spend(COMPILE_STEPS + self.all.len() as u64);
        let pattern =
            if is_affordable { NamePattern::new(name) } else { return Rc::new(Resolution::Unknown) };
        let resolution = match pattern {
            Ok(NamePattern::Exact(exact)) => {
                Resolution::Tasks(self.index_of.get(exact).copied().into_iter().collect())
            }
            Ok(pattern) => {
                let tasks = TaskIdx::first(self.all.len()).zip(&self.all);
                let tasks = tasks.filter(|(_, name)| pattern.matches(name));
                Resolution::Tasks(tasks.map(|(task_idx, _)| task_idx).collect())
            }
            Err(why) => Resolution::Broken(why.to_string()),
        };
        let resolution = Rc::new(resolution);
        self.resolved.insert(name, resolution.clone());
        resolution
    }

    fn suggestion(&mut self, name: &str) -> Option<String> {
        self.n_suggestions += 1;
        if self.n_suggestions * self.all.len() > COMPARISONS_MAX {
            return None;
        }
        closest_name(name, self.all.iter().copied()).map(|best| format!("did you mean `{best}`?"))
    }
}

pub(super) fn check<'a>(
    definition: &Definition<'_, 'a>,
    subject: &Subject<'_, 'a>,
    names: &mut Names<'a>,
    inert: &mut InertTriggers<'a>,
    findings: &mut Vec<Diagnostic>,
) {
    for link in &definition.links {
        if link.kind == LinkKind::Member && !definition.is_group() {
            // Only groups have members; the field has no effect in other tasks.
            continue;
        }
        let finding = match &*names.resolve(link.name) {
            Resolution::Broken(why) => {
                Some(Diagnostic::error(codes::PATTERN, format!("invalid pattern `{}`: {why}", link.name)))
            }
            Resolution::Unknown => None,
            Resolution::Tasks(tasks) if tasks.is_empty() && link.kind == LinkKind::Trigger => {
                // Another layer may define the task.
                let is_final = subject.scope == Scope::Merged;
                let misspelt = is_final.then(|| misspelt_trigger(link, names)).flatten();
                if is_final && misspelt.is_none() {
                    inert.add(definition.task.name, link.name);
                }
                misspelt
            }
            Resolution::Tasks(tasks) if tasks.is_empty() => Some(dangling(link, subject.scope, names)),
            Resolution::Tasks(tasks) => without_effect(definition, link, tasks, subject),
        };
        findings.extend(finding.map(|finding| finding.task(definition.task.name, link.path())));
    }
}

/// Returns the diagnostic for a name that matches no task. In a single layer it may refer to another layer.
fn dangling(link: &Link<'_>, scope: Scope, names: &mut Names<'_>) -> Diagnostic {
    if scope == Scope::Layer {
        let message = format!("task `{}` does not exist in this layer", link.name);
        let help =
            names.suggestion(link.name).unwrap_or_else(|| "it may be defined in another layer".to_owned());
        return Diagnostic::warning(codes::DANGLING, message).help(help);
    }
    if link.kind == LinkKind::Member {
        let message = format!("the group lists `{}`, which is not a task", link.name);
        return Diagnostic::error(codes::GROUP_MEMBER, message).help_if(names.suggestion(link.name));
    }
    if NamePattern::is_regex(link.name) {
        let message = format!("no task matches `{}`, so the dependency has no effect", link.name);
        return Diagnostic::warning(codes::DANGLING, message);
    }
    let message = format!("task `{}` does not exist, so the dependency has no effect", link.name);
    Diagnostic::warning(codes::DANGLING, message).help_if(names.suggestion(link.name))
}

/// Entries of `refresh_on` may name resources of a configuration, as in Fuel; only a similar task name is suspicious.
fn misspelt_trigger(link: &Link<'_>, names: &mut Names<'_>) -> Option<Diagnostic> {
    let help = names.suggestion(link.name)?;
    let message = format!("task `{}` does not exist, so it does not trigger this task", link.name);
    Some(Diagnostic::warning(codes::DANGLING, message).help(help))
}

/// Reports dependencies that can never have an effect.
fn without_effect(
    definition: &Definition<'_, '_>,
    link: &Link<'_>,
    tasks: &[TaskIdx],
    subject: &Subject<'_, '_>,
) -> Option<Diagnostic> {
    if link.is_cross() || link.kind == LinkKind::Member {
        return None;
    }
    if let [task_idx] = tasks
        && subject.definition(*task_idx).task.name == definition.task.name
    {
        return Some(Diagnostic::warning(codes::DANGLING, "the task depends on itself, which has no effect"));
    }
    let is_stage = |task_idx: &TaskIdx| subject.definition(*task_idx).is_stage();
    if !definition.is_stage() || tasks.iter().any(is_stage) {
        return None;
    }
    let (field, opposite_field) = match link.kind {
        LinkKind::Requires => ("requires", "required_for"),
        _ => ("required_for", "requires"),
    };
    let message = format!("`{field}` of a stage applies to stages only, and `{}` is not a stage", link.name);
    let help = format!("write `{opposite_field}: [{}]` in `{}` instead", definition.task.name, link.name);
    Some(Diagnostic::warning(codes::STAGE, message).help(help))
}
