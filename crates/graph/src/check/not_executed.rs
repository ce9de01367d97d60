//! Fields of Fuel that are accepted and never executed. One note for each field, however many tasks set it.

use std::collections::BTreeSet;

use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::Json;

use super::Subject;
use crate::codes;

const FIELDS: &[(&str, &str)] = &[
    ("reexecute_on", "use `condition` with `changed()`, or `inputsChanged()`"),
    ("test_pre", "add a task that runs before"),
    ("test_post", "add a task that runs after"),
];

/// Maximum number of names in a message.
const NAMED_MAX: usize = 5;

/// Entries of `refresh_on` that name no task, with the tasks that list them.
#[derive(Default)]
pub(super) struct InertTriggers<'a> {
    names: BTreeSet<&'a str>,
    tasks: Vec<&'a str>,
}

impl<'a> InertTriggers<'a> {
    pub(super) fn add(&mut self, task: &'a str, name: &'a str) {
        self.names.insert(name);
        if self.tasks.last() != Some(&task) {
            self.tasks.push(task);
        }
    }

    pub(super) fn report(&self, findings: &mut Vec<Diagnostic>) {
        let Some(first) = self.tasks.first() else { return };
        let mut names: Vec<String> =
            self.names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
        if let Some(n_more) = self.names.len().checked_sub(NAMED_MAX).filter(|n_more| *n_more > 0) {
            names.push(format!("{n_more} more"));
        }
        let message = format!(
            "entries of `refresh_on` that name no task trigger nothing: {} ({})",
            names.join(", "),
            in_tasks(self.tasks.len())
        );
        findings.push(note(message, "name the task that writes the configuration").task(first, "refresh_on"));
    }
}

pub(super) fn check(subject: &Subject<'_, '_>, findings: &mut Vec<Diagnostic>) {
    for (field, help) in FIELDS {
        let is_set = |value: &Json| match value {
            Json::Array(items) => !items.is_empty(),
            Json::Object(fields) => !fields.is_empty(),
            value => !value.is_null(),
        };
        let tasks = subject.definitions.iter().map(|definition| definition.task);
        let mut set = tasks.filter(|task| task.value(field).is_some_and(is_set));
        let Some(first) = set.next() else { continue };
        let message = format!("`{field}` is not executed ({})", in_tasks(1 + set.count()));
        findings.push(note(message, help).task(first.name, *field));
    }
}

fn note(message: String, help: &str) -> Diagnostic {
    Diagnostic::plain(message).severity(Severity::Note).code(codes::NOT_EXECUTED).help(help)
}

fn in_tasks(n_tasks: usize) -> String {
    if n_tasks == 1 { "in 1 task".to_owned() } else { format!("in {n_tasks} tasks") }
}
