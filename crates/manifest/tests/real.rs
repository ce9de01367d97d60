//! Real graphs, if the data is present next to the workspace, and arbitrary texts.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;
use stoker_diagnostics::{Diagnostic, Severity, has_errors};
use stoker_manifest::{Format, ParseOptions, codes, graph, task};

fn folder() -> Option<PathBuf> {
    stoker_testenv::shared_folder("fuel-library")
}

fn file(name: &str) -> Option<String> {
    fs::read_to_string(stoker_testenv::shared_data(&format!("fuel-library/{name}"))?).ok()
}

#[test]
fn real_tasks_are_valid_and_round_trip() {
    let counts = [
        ("default-graph.yaml", 204),
        ("provision__tasks.yaml", 10),
        ("deletion__tasks.yaml", 5),
        ("net-verification__tasks.yaml", 14),
    ];
    for (name, n_tasks) in counts {
        let Some(text) = file(name) else { continue };
        let result = graph::read(&text, Format::Yaml);
        assert_eq!(without_bare_words(result.problems), [], "{name}");
        let tasks = result.value.and_then(|body| body.tasks).expect("tasks");
        assert_eq!(tasks.len(), n_tasks, "{name}");
        let answer: Value = tasks.iter().map(task::render).map(Value::Object).collect();
        let again = graph::read_tasks(&answer.to_string(), Format::Json);
        assert_eq!(without_bare_words(again.problems), [], "{name}");
        assert_eq!(again.value, Some(tasks), "{name}");
    }
}

#[test]
fn real_metadata_is_valid() {
    for name in ["provision__metadata.yaml", "deletion__metadata.yaml", "net-verification__metadata.yaml"] {
        let Some(text) = file(name) else { continue };
        let body = graph::read(&text, Format::Yaml);
        assert_eq!(body.problems, Vec::<Diagnostic>::new(), "{name}");
        let body = body.value.expect("a graph");
        assert!(
            body.node_filter.is_present() && body.on_success.is_present() && body.tasks.is_none(),
            "{name}"
        );
    }
}

#[test]
fn real_files_with_anchors_are_valid() {
    let Some(Ok(entries)) = folder().map(fs::read_dir) else { return };
    let lax = ParseOptions { strict_keys: false, ..ParseOptions::default() };
    let mut rejected = Vec::new();
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with("tasks.yaml") {
            let text = fs::read_to_string(&path).expect("text");
            assert!(graph::read_with(&text, Format::Yaml, &lax).value.is_some(), "{name}");
            let problems = without_bare_words(graph::read(&text, Format::Yaml).problems);
            rejected.extend(problems.into_iter().map(|problem| (name.clone(), problem.message)));
        }
    }
    // Three real files contain duplicate keys, four in all, and lose the first values.
    assert_eq!(rejected.len(), 4, "{rejected:?}");
    assert!(rejected.iter().all(|(_, message)| message.contains("is given twice; first given here")));
}

/// Returns all problems except bare words that were meant as constants; the real graphs contain three of
/// these.
fn without_bare_words(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    problems.into_iter().filter(|problem| problem.code != codes::BARE_WORD).collect()
}

#[test]
fn bare_words_in_real_graphs_are_reported() {
    let Some(text) = file("default-graph.yaml") else { return };
    let problems = graph::read(&text, Format::Yaml).problems;
    let bare_words: Vec<(u32, &str)> = problems
        .iter()
        .map(|problem| {
            let span = problem.location.span.expect("a location");
            (span.start.line, &text[span.start.offset as usize..span.end.offset as usize])
        })
        .collect();
    assert_eq!(bare_words, [(3717, "None"), (3717, "None"), (4682, "undef")]);
    assert!(problems.iter().all(|problem| problem.severity == Severity::Warning));
}

/// Generates documents of known words in random positions.
fn documents() -> impl Strategy<Value = Value> {
    const WORDS: &[&str] = &[
        "id",
        "type",
        "tasks",
        "shell",
        "yaql_exp",
        "$.a",
        "(",
        "requires",
        "cross-depends",
        "cross_depends",
        "name",
        "role",
        "roles",
        "parameters",
        "strategy",
        "amount",
        "condition",
        "version",
        "1.0.0",
        "stage",
        "a/1",
        "",
        "on_success",
        "node_attributes",
        "status",
        "ready",
        "node_filter",
        "fault_tolerance",
        "10%",
        "regex",
        "1",
    ];
    let word = || prop::sample::select(WORDS).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..8).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn result_is_a_graph_or_an_error(document in documents()) {
        let text = document.to_string();
        let result = graph::read(&text, Format::Json);
        let has_errors = has_errors(&result.problems);
        prop_assert_eq!(result.value.is_none(), has_errors, "{}", text);
        for problem in &result.problems {
            if let Some(span) = problem.location.span {
                prop_assert!(text.get(span.start.offset as usize..span.end.offset as usize).is_some());
            }
        }
        // An accepted graph is accepted again in the form of a response.
        if let Some(tasks) = result.value.and_then(|body| body.tasks) {
            let answer: Value = tasks.iter().map(task::render).map(Value::Object).collect();
            let again = graph::read_tasks(&answer.to_string(), Format::Json).value;
            prop_assert!(again.is_some(), "{}", answer);
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        graph::read(&text, Format::Yaml);
        graph::read(&text, Format::Json);
    }
}
