//! Large and malicious uploads are validated in time proportional to their size, with bounded output.
#![expect(clippy::disallowed_methods, reason = "the test measures elapsed time")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stoker_manifest::{Format, graph};

/// Maximum time for reading a text; quadratic time for these sizes would be hours.
const TIME_MAX: Duration = Duration::from_mins(1);

fn check(text: &str) {
    let started = Instant::now();
    let result = graph::read(text, Format::Json);
    let problems = &result.problems;
    assert!(started.elapsed() < TIME_MAX, "{:?}", started.elapsed());
    assert!(problems.len() <= 201, "{} problems", problems.len());
    assert!(stoker_diagnostics::summarize(problems).len() < 20_000);
}

fn list(item: impl Fn(usize) -> String, n_items: usize) -> String {
    let mut text = String::from("[");
    for item_idx in 0..n_items {
        _ = write!(text, "{}{}", if item_idx > 0 { "," } else { "" }, item(item_idx));
    }
    text + "]"
}

#[test]
fn many_unknown_fields() {
    let fields = list(|at| format!("\"requries{at}\": {at}"), 100_000).replace(['[', ']'], "");
    check(&format!("[{{\"id\": \"a\", \"type\": \"shell\", {fields}}}]"));
    check(&format!("{{{fields}}}"));
}

#[test]
fn many_invalid_tasks() {
    check(&list(
        |_| "{\"id\": \"a\", \"type\": \"shell\", \"condition\": {\"yaql_exp\": \"$.a +\"}}".to_owned(),
        50_000,
    ));
    check(&list(|at| format!("{{\"id\": {at}, \"type\": \"x{at}\"}}"), 50_000));
    check(&list(|at| at.to_string(), 300_000));
}

#[test]
fn deeply_nested_values() {
    check(&format!("[{{\"id\": \"a\", \"type\": \"shell\", \"x\": {}1{}}}]", "[".repeat(90), "]".repeat(90)));
    check(&"[{\"parameters\":".repeat(50_000));
}

#[test]
fn long_expressions() {
    let long = "$.a + ".repeat(100_000);
    check(&format!("[{{\"id\": \"a\", \"type\": \"shell\", \"condition\": {{\"yaql_exp\": \"{long}\"}}}}]"));
    let nested = "(".repeat(100_000);
    check(&format!(
        "[{{\"id\": \"a\", \"type\": \"shell\", \"condition\": {{\"yaql_exp\": \"{nested}\"}}}}]"
    ));
    let name = "a".repeat(1_000_000);
    check(&format!("[{{\"id\": \"{name}\", \"type\": \"{name}\", \"version\": \"{name}\"}}]"));
}
