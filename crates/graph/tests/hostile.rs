//! Graphs designed to be expensive are checked in bounded time, and the check reports that it is incomplete.
#![expect(clippy::disallowed_methods, reason = "the test measures elapsed time")]

use std::time::{Duration, Instant};

use serde_json::json;
use stoker_diagnostics::Diagnostic;
use stoker_graph::{GraphCheckOptions, Layer, MergeRules, Scope, Source, check, codes, merge};
use stoker_model::{Json, Task};

/// Maximum time of a check. Generous for a busy machine; an unbounded check would take far longer.
const TIME_MAX: Duration = Duration::from_mins(1);

fn findings(n_tasks: usize, fields: impl Fn(usize) -> Json) -> Vec<Diagnostic> {
    let task = |at: usize| {
        let mut fields = fields(at).as_object().cloned().unwrap_or_default();
        fields.insert("type".to_owned(), json!("shell"));
        Task { name: format!("task-{at}"), fields }
    };
    let tasks: Vec<Task> = (0..n_tasks).map(task).collect();
    let layers = [Layer::of_tasks(Source::Release, &tasks)];
    let places: Vec<String> = (0..100).map(|at| format!("place-{at}")).collect();
    let options = GraphCheckOptions {
        scope: Scope::Merged,
        roles_and_tags: Some(&places),
        library: None,
        parameters: None,
        steps_max: 500_000,
    };
    let started = Instant::now();
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    assert!(started.elapsed() < TIME_MAX, "{:?}", started.elapsed());
    findings
}

fn is_incomplete(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.code == codes::TOO_LARGE)
}

#[test]
fn all_tasks_require_all_tasks() {
    assert!(is_incomplete(&findings(2000, |_| json!({"roles": "*", "requires": ["/.*/"]}))));
}

#[test]
fn distinct_pattern_per_task() {
    assert!(is_incomplete(&findings(
        2000,
        |at| json!({"roles": "*", "requires": [format!("/task-{at}x/")]})
    )));
}

#[test]
fn distinct_role_per_task_on_all_nodes() {
    let own =
        |at: usize| json!({"roles": ["*", format!("place-{at}")], "cross_depends": [{"name": "task-1"}]});
    assert!(is_incomplete(&findings(2000, own)));
}

#[test]
fn patterns_with_exponential_backtracking() {
    let slow =
        json!({"roles": ["/(p|p|pl|pla)*(?=x)/"], "requires": ["/(t|t|ta|tas)*(?=x)/", "/((a*)*)*b\\1/"]});
    findings(500, |_| slow.clone());
}

#[test]
fn long_chain_and_long_cycle_are_checked() {
    let chain = |at: usize| json!({"roles": "*", "requires": [format!("task-{}", at.max(1) - 1)]});
    let reported = findings(10_000, chain);
    assert!(!is_incomplete(&reported));
    assert_eq!(reported.len(), 1, "the first task depends on itself");
    let cycle =
        findings(10_000, |at| json!({"roles": "*", "requires": [format!("task-{}", (at + 1) % 10_000)]}));
    assert_eq!(cycle.len(), 1);
    assert_eq!(cycle[0].code, codes::CYCLE);
    assert!(cycle[0].message.len() < 2000, "{}", cycle[0].message.len());
}

#[test]
fn thousands_of_dangling_names_are_reported() {
    let reported = findings(10_000, |at| json!({"roles": "place-1", "requires": [format!("tsak-{at}")]}));
    assert_eq!(reported.len(), 10_000);
    assert!(reported[0].help.is_some() && reported[9_999].help.is_none());
}
