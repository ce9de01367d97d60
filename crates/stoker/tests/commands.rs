//! `stoker yaql` subcommands: helpers, functions, reference, bench, repl.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod program;

use insta::assert_snapshot;
use program::{root, run, run_bytes, yaql};
use serde_json::Value;

const CLUSTER: &str = "examples/cluster.yaml";
const HELPERS: &str = "examples/helpers";

#[test]
fn helpers_are_callable() {
    assert_snapshot!(yaql(&["metricsEndpoints($)", "-d", CLUSTER, "--helpers", HELPERS]));
    assert_snapshot!(yaql(&["$.nodes.withRole(controller).name", "-d", CLUSTER, "--helpers", HELPERS]));
}

#[test]
fn single_helper_file() {
    assert_snapshot!(yaql(&["endpoint(a)", "--helpers", "examples/helpers/network.yaml"]));
}

#[test]
fn helper_error_points_into_helper_file() {
    assert_snapshot!(yaql(&["metricsEndpoints({nodes => [{}]})", "--helpers", HELPERS]));
}

#[test]
fn invalid_helper_files() {
    assert_snapshot!(yaql(&["1", "--helpers", "crates/stoker/tests/data/helpers_bad"]));
}

#[test]
fn missing_helper_files() {
    assert_snapshot!(yaql(&["1", "--helpers", "no/such/folder"]));
    assert_snapshot!(yaql(&["1", "--helpers", "changelog.d"]));
}

#[test]
fn function_documentation() {
    assert_snapshot!(yaql(&["functions", "coalesce"]));
    assert_snapshot!(yaql(&["functions", "withRole", "--helpers", HELPERS]));
    assert_snapshot!(yaql(&["functions", "->", "-o", "json"]));
}

#[test]
fn unknown_function() {
    assert_snapshot!(yaql(&["functions", "wehre"]));
    assert_snapshot!(yaql(&["functions", "zzzzzzzzz"]));
}

#[test]
fn all_functions() {
    let table = yaql(&["functions"]);
    assert!(table.contains("\nqueries\n") && table.contains("(collection: iter).where(predicate: λ)"));
    let output = run_bytes(&["yaql", "functions", "--output", "json"], b"");
    let functions: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(functions.as_array().unwrap().len() > 100);
    let yaml = yaql(&["functions", "-o", "yaml"]);
    assert!(yaml.contains("\n  family: queries\n"));
}

#[test]
fn reference_lists_each_family_once() {
    let page = yaql(&["reference"]);
    for family in ["boolean", "collections", "queries", "strings", "system", "delegates", "legacy"] {
        assert_eq!(page.matches(&format!("\n## {family}\n")).count(), 1, "{family}");
    }
}

fn bench(cases: &str) -> String {
    let path = std::env::temp_dir().join(format!("stoker-bench-{}-{}.json", std::process::id(), cases.len()));
    std::fs::write(&path, cases).unwrap();
    let name = path.to_str().unwrap();
    let output = yaql(&["bench", name]).replace(name, "cases.json");
    std::fs::remove_file(&path).unwrap();
    output
}

#[test]
fn bench_prints_times_and_digests() {
    let output = bench(
        r#"{"docs": {"d": {"b": 1, "a": "ä"}}, "cases": [{"name": "one", "doc": "d", "expr": "$"},
           {"name": "two", "doc": "d", "expr": "$.a"}]}"#,
    );
    let json =
        output.strip_prefix("exit code 0\n--- stdout\n").unwrap().strip_suffix("--- stderr\n").unwrap();
    let report: Value = serde_json::from_str(json).unwrap();
    assert!(report["engine"].as_str().unwrap().starts_with("stoker "));
    let case = &report["cases"]["one"];
    assert!(case["parse_ns"].as_i64().unwrap() > 0 && case["eval_ns"].as_i64().unwrap() > 0);
    // The SHA-256 digest of {"a":"\u00e4","b":1}.
    assert_eq!(case["sha256"], "78892fb919682f85e08161f2cd8e0e904520a093cd75421077a1c865e59e90c6");
    assert_eq!(report["cases"].as_object().unwrap().len(), 2);
}

#[test]
fn invalid_bench_files() {
    assert_snapshot!(bench("{"));
    assert_snapshot!(bench("{\"docs\": 5}"));
    assert_snapshot!(bench(r#"{"docs": {}, "cases": [{"name": "one", "expr": "1"}]}"#));
    assert_snapshot!(bench(r#"{"docs": {}, "cases": [{"name": "one", "doc": "d", "expr": "1"}]}"#));
    assert_snapshot!(bench(r#"{"docs": {"d": 1}, "cases": [{"name": "one", "doc": "d", "expr": "$.x"}]}"#));
    assert!(yaql(&["bench", "no/such.json"]).starts_with("exit code 3"));
}

#[test]
fn repl_without_terminal() {
    let lines = "\
$.nodes.len()
$_ + 1
:set roles $.nodes.selectMany($.roles).distinct()
'ceph-osd' in $roles
[
  1,
  2
]
$_ = [1, 2]
";
    assert_snapshot!(run(&["yaql", "repl", "-d", CLUSTER], lines));
}

#[test]
fn repl_commands() {
    let lines = ":help\n:data examples/cluster.yaml\n$.cluster.name\n:explain $.storage.pool_size > 2\n:reads $.a.b\n\
                 :doc coalesce\n:quit\nnever\n";
    assert_snapshot!(run(&["yaql", "repl"], lines));
}

#[test]
fn repl_continues_after_errors() {
    let lines = "1 +\n:hlep\n:set x\n:data no/such\n:doc wehre\n:explain $.x\n2 + 2\nf(";
    assert_snapshot!(run(&["yaql", "repl"], lines));
}

#[test]
fn example_helpers_are_valid() {
    assert!(root().join(HELPERS).is_dir());
    assert!(yaql(&["1", "--helpers", HELPERS]).ends_with("--- stderr\n"));
}
