//! Graphs made to keep a server busy are checked in bounded time, and the check says that it gave up.
#![expect(clippy::disallowed_methods, reason = "a test reads the clock to see that work ends")]

use std::time::{Duration, Instant};

use serde_json::json;
use stoker_graph::{CheckOptions, Finding, Layer, MergeRules, Scope, Source, check, codes, merge};
use stoker_model::{Json, Task};

/// Generous, for a busy machine; what is not bounded takes longer still.
const TIME_MAX: Duration = Duration::from_mins(1);

fn findings(n_tasks: usize, fields: impl Fn(usize) -> Json) -> Vec<Finding> {
    let task = |at: usize| {
        let mut fields = fields(at).as_object().cloned().unwrap_or_default();
        fields.insert("type".to_owned(), json!("shell"));
        Task { name: format!("task-{at}"), fields }
    };
    let tasks: Vec<Task> = (0..n_tasks).map(task).collect();
    let layers = [Layer::of_tasks(Source::Release, &tasks)];
    let places: Vec<String> = (0..100).map(|at| format!("place-{at}")).collect();
    let options =
        CheckOptions { scope: Scope::Whole, places: Some(&places), library: None, steps_max: 500_000 };
    let started = Instant::now();
    let findings = check(&merge(&layers, MergeRules::default()), &options);
    assert!(started.elapsed() < TIME_MAX, "{:?}", started.elapsed());
    findings
}

fn gave_up(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.code == codes::TOO_LARGE)
}

#[test]
fn every_task_requires_all() {
    assert!(gave_up(&findings(2000, |_| json!({"roles": "*", "requires": ["/.*/"]}))));
}

#[test]
fn every_task_has_its_own_pattern() {
    assert!(gave_up(&findings(2000, |at| json!({"roles": "*", "requires": [format!("/task-{at}x/")]}))));
}

#[test]
fn every_task_has_its_own_place_and_is_everywhere() {
    let own =
        |at: usize| json!({"roles": ["*", format!("place-{at}")], "cross_depends": [{"name": "task-1"}]});
    assert!(gave_up(&findings(2000, own)));
}

#[test]
fn patterns_that_explode() {
    let slow =
        json!({"roles": ["/(p|p|pl|pla)*(?=x)/"], "requires": ["/(t|t|ta|tas)*(?=x)/", "/((a*)*)*b\\1/"]});
    findings(500, |_| slow.clone());
}

#[test]
fn a_long_chain_and_a_long_circle_are_no_trouble() {
    let chain = |at: usize| json!({"roles": "*", "requires": [format!("task-{}", at.max(1) - 1)]});
    let found = findings(10_000, chain);
    assert!(!gave_up(&found));
    assert_eq!(found.len(), 1, "the first names itself");
    let circle =
        findings(10_000, |at| json!({"roles": "*", "requires": [format!("task-{}", (at + 1) % 10_000)]}));
    assert_eq!(circle.len(), 1);
    assert_eq!(circle[0].code, codes::CYCLE);
    assert!(circle[0].message.len() < 2000, "{}", circle[0].message.len());
}

#[test]
fn names_that_lead_nowhere_by_the_thousand() {
    let found = findings(10_000, |at| json!({"roles": "place-1", "requires": [format!("tsak-{at}")]}));
    assert_eq!(found.len(), 10_000);
    assert!(found[0].help.is_some() && found[9_999].help.is_none());
}
