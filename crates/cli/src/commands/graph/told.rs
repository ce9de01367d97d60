//! Findings in short: what many tasks have in common is told once.

use crate::diagnostic::{Diagnostic, Severity};
use crate::text::counted;

/// How many tasks are named of those that have the same warning.
const NAMED_MAX: usize = 5;

/// A finding as it is told alone, and what it says without its place.
pub(super) struct Told {
    pub(super) alone: Diagnostic,
    pub(super) what: String,
    pub(super) task: Option<String>,
}

/// Each error, and each warning once, in the order in which they were found.
pub(super) fn in_short(told: Vec<Told>, is_everything: bool) -> Vec<Diagnostic> {
    let mut groups: Vec<Vec<Told>> = Vec::new();
    for each in told {
        let is_alike = |group: &&mut Vec<Told>| {
            let first = &group[0];
            !is_everything
                && each.alone.severity == Severity::Warning
                && (&first.alone.code, &first.what) == (&each.alone.code, &each.what)
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(each),
            None => groups.push(vec![each]),
        }
    }
    groups.iter().map(|group| summed_up(group)).collect()
}

fn summed_up(group: &[Told]) -> Diagnostic {
    let mut tasks: Vec<&str> = group.iter().filter_map(|each| each.task.as_deref()).collect();
    tasks.dedup();
    let mut first = group[0].alone.clone();
    if group.len() == 1 {
        return first;
    }
    first.message.clone_from(&group[0].what);
    let named: Vec<String> = tasks.iter().take(NAMED_MAX).map(|task| format!("`{task}`")).collect();
    let rest = match tasks.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        n_more => format!(" and {n_more} more; `-v` tells each"),
    };
    let note =
        format!("{} times, in {}: {}{rest}", group.len(), counted(tasks.len(), "task"), named.join(", "));
    first.notes.insert(0, note);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(severity: Severity, what: &str, task: &str) -> Told {
        let message = format!("task `{task}`: {what}");
        let alone = Diagnostic { severity, ..Diagnostic::error(message) }.code("c");
        Told { alone, what: what.to_owned(), task: Some(task.to_owned()) }
    }

    fn found() -> Vec<Told> {
        let mut found: Vec<Told> =
            (0..9).map(|number| told(Severity::Warning, "no role `x`", &format!("t{number}"))).collect();
        found.push(told(Severity::Error, "broken", "a"));
        found.push(told(Severity::Error, "broken", "b"));
        found.push(told(Severity::Warning, "no role `y`", "t3"));
        found
    }

    #[test]
    fn alike_warnings_are_told_once_and_errors_each() {
        let short = in_short(found(), false);
        let messages: Vec<&str> = short.iter().map(|each| each.message.as_str()).collect();
        let expected = ["no role `x`", "task `a`: broken", "task `b`: broken", "task `t3`: no role `y`"];
        assert_eq!(messages, expected);
        let note = "9 times, in 9 tasks: `t0`, `t1`, `t2`, `t3`, `t4` and 4 more; `-v` tells each";
        assert_eq!(short[0].notes, [note]);
    }

    #[test]
    fn everything_is_told_where_that_is_wanted() {
        assert_eq!(in_short(found(), true).len(), found().len());
    }
}
