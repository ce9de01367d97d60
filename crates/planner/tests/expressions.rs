//! Expressions of the real graphs have the values that the reference implementation computed.

use crate::real;

use std::collections::BTreeSet;
use std::fs;

use real::Cluster;
use serde_json::Value as Json;
use stoker_planner::{evaluate, library, options};
use stoker_state::StateDocument;
use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::{Engine, Result, Value};

/// A result in the notation of the expected data.
fn to_expected_form(result: Result<Value>, expected: &Json) -> Json {
    let value = match result {
        Ok(value) => value,
        Err(error) => return serde_json::json!({"$error": error.class.name()}),
    };
    if let (Some(text), Some(_)) = (value.as_str(), expected.get("$text")) {
        let lines = text.matches('\n').count();
        return serde_json::json!({"$text": {"chars": text.chars().count(), "lines": lines}});
    }
    if let (Some(map), Some(_)) = (value.as_map(), expected.get("$map")) {
        let mut keys: Vec<&str> = map.iter().filter_map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        return serde_json::json!({"$map": {"keys": keys}});
    }
    serde_json::from_str(
        &write(&value, &WriteOptions { tags: false, ..WriteOptions::default() }).expect("JSON"),
    )
    .expect("JSON")
}

#[test]
fn results_match_the_reference() {
    let (Some(folder), Some(now)) = (real::folder(), Cluster::real()) else { return };
    let text = fs::read_to_string(folder.join("expected/yaql-results.json")).expect("text");
    let cases: Vec<Json> = serde_json::from_str(&text).expect("JSON");
    let before = now.before_scale_out();
    let engine = Engine::new(library());
    let options = options(now.nodes.len());
    let (mut n_checked, mut failures) = (0, Vec::new());
    for case in &cases {
        let source = case["expression"].as_str().expect("text");
        let expression = engine.compile(source).expect("it parses");
        for (name, results) in case["results"].as_object().expect("results") {
            let all = results.get("all");
            for uid in case["nodes"].as_array().expect("nodes").iter().filter_map(Json::as_str) {
                let expected = all.or_else(|| results.get(uid)).expect("a result");
                let old: Option<StateDocument> = match name.as_str() {
                    "same" => Some(now.state(uid)),
                    "scale_out" => Some(before.state(uid)),
                    _ => None,
                };
                let actual = to_expected_form(
                    evaluate(&expression, &now.state(uid), old.as_ref(), &options),
                    expected,
                );
                n_checked += 1;
                if actual != *expected {
                    failures.push(format!(
                        "{} {name} {uid}: {actual} instead of {expected}\n  {source}",
                        case["task"]
                    ));
                }
            }
        }
    }
    let n_distinct: BTreeSet<&str> = cases.iter().filter_map(|case| case["expression"].as_str()).collect();
    println!("{n_checked} results of {} expressions, {} distinct", cases.len(), n_distinct.len());
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures.join("\n"));
}
