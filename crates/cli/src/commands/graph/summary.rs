//! Groups equal warnings of several tasks into one diagnostic.

use stoker_diagnostics::{Diagnostic, Severity};

use crate::text::counted;

/// Maximum number of tasks listed per group, so that the list fits one line.
const NAMED_MAX: usize = 5;

/// A finding: its full diagnostic, and its message without the location, by which warnings are grouped.
pub(crate) struct Reported {
    pub(crate) diagnostic: Diagnostic,
    pub(crate) summary: String,
    pub(crate) task: Option<String>,
}

/// Groups warnings with equal code and message, in order of first occurrence. Errors are never grouped.
pub(crate) fn summarize(findings: Vec<Reported>, is_verbose: bool) -> Vec<Diagnostic> {
    let mut groups: Vec<Vec<Reported>> = Vec::new();
    for finding in findings {
        let is_equal = |group: &&mut Vec<Reported>| {
            let first = &group[0];
            !is_verbose
                && finding.diagnostic.severity == Severity::Warning
                && first.diagnostic.severity == Severity::Warning
                && (&first.diagnostic.code, &first.summary) == (&finding.diagnostic.code, &finding.summary)
        };
        match groups.iter_mut().find(is_equal) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups.iter().map(|group| group_diagnostic(group)).collect()
}

fn group_diagnostic(group: &[Reported]) -> Diagnostic {
    let mut tasks: Vec<&str> = group.iter().filter_map(|finding| finding.task.as_deref()).collect();
    tasks.dedup();
    let mut first = group[0].diagnostic.clone();
    if group.len() == 1 {
        return first;
    }
    first.message.clone_from(&group[0].summary);
    let names: Vec<String> = tasks.iter().take(NAMED_MAX).map(|task| format!("`{task}`")).collect();
    let suffix = match tasks.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        n_more => format!(" and {n_more} more; `-v` lists all"),
    };
    let note =
        format!("{} times, in {}: {}{suffix}", group.len(), counted(tasks.len(), "task"), names.join(", "));
    first.notes.insert(0, note.into());
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, summary: &str, task: &str) -> Reported {
        let message = format!("task `{task}`: {summary}");
        let diagnostic = Diagnostic::error("c", message).severity(severity);
        Reported { diagnostic, summary: summary.to_owned(), task: Some(task.to_owned()) }
    }

    fn sample() -> Vec<Reported> {
        let mut findings: Vec<Reported> =
            (0..9).map(|number| finding(Severity::Warning, "no role `x`", &format!("t{number}"))).collect();
        findings.push(finding(Severity::Error, "broken", "a"));
        findings.push(finding(Severity::Error, "broken", "b"));
        findings.push(finding(Severity::Warning, "no role `y`", "t3"));
        findings
    }

    #[test]
    fn equal_warnings_are_grouped_and_errors_are_not() {
        let short = summarize(sample(), false);
        let messages: Vec<&str> = short.iter().map(|finding| finding.message.as_str()).collect();
        let expected = ["no role `x`", "task `a`: broken", "task `b`: broken", "task `t3`: no role `y`"];
        assert_eq!(messages, expected);
        let note = "9 times, in 9 tasks: `t0`, `t1`, `t2`, `t3`, `t4` and 4 more; `-v` lists all";
        assert_eq!(short[0].notes[0].message, note);
    }

    #[test]
    fn verbose_output_is_not_grouped() {
        assert_eq!(summarize(sample(), true).len(), sample().len());
    }
}
