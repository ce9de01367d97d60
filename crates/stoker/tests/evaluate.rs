//! `stoker yaql EXPRESSION`: results and errors.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod program;

use insta::assert_snapshot;
use program::{run, run_bytes, yaql};

const CLUSTER: &str = "examples/cluster.yaml";

#[test]
fn query_over_a_file() {
    assert_snapshot!(yaql(&[r#"$.nodes.where("controller" in $.roles).name"#, "--data", CLUSTER]));
}

#[test]
fn results_as_yaml() {
    let expression = "{a => [1, 2.5, null], b => '2017', c => {5 => x}, d => timespan(days => 1), e => []}";
    assert_snapshot!(yaql(&[expression, "--output", "yaml"]));
}

#[test]
fn non_json_values_are_tagged() {
    assert_snapshot!(yaql(&["[timespan(hours => 2), {1 => 2}, regex('a.c')]"]));
}

#[test]
fn raw_strings() {
    assert_snapshot!(yaql(&["'a\"ä' + 'b'", "--raw"]));
    assert_snapshot!(yaql(&["['a']", "--raw"]));
}

#[test]
fn variables_and_standard_input() {
    let arguments = ["yaql", "$.where($ > $n).select($ * $f)", "-d", "-", "--var", "n=2", "--var", "$f=10"];
    assert_snapshot!(run(&arguments, "[1, 2, 3, 4]"));
    assert_snapshot!(run(&["yaql", "$.a", "-d", "-"], "a: {b: yes}\n"));
}

#[test]
fn empty_data_is_null() {
    assert_snapshot!(run(&["yaql", "$", "-d", "-"], ""));
}

#[test]
fn dialects() {
    assert_snapshot!(yaql(&["lambda($ * 2)(4)", "--delegates"]));
    assert_snapshot!(yaql(&["7.switch($ > 5 => big)", "--legacy", "context"]));
    assert_snapshot!(yaql(&["1 => 2", "--legacy", "full"]));
}

#[test]
fn expressions_starting_with_a_dash() {
    assert_snapshot!(yaql(&["-5"]));
    assert_snapshot!(yaql(&["--", "-(5)"]));
    assert_snapshot!(yaql(&["--", "repl"]));
}

#[test]
fn explain() {
    let expression = "$.nodes.where($.cpus > 16 and $.rack = north).select({n => $.name}).first()";
    assert_snapshot!(yaql(&[expression, "-d", CLUSTER, "--explain"]));
}

#[test]
fn explain_with_helpers() {
    let arguments =
        ["metricsEndpoints($).take(2)", "-d", CLUSTER, "--helpers", "examples/helpers", "--explain"];
    assert_snapshot!(yaql(&arguments));
}

#[test]
fn explain_as_json() {
    assert_snapshot!(yaql(&["[1, 2].select($ + 1).sum() > 4 or $.x", "--explain", "-o", "json"]));
}

#[test]
fn explain_failure() {
    assert_snapshot!(yaql(&["$.nodes.where($.cpu > 8).name", "-d", CLUSTER, "--explain"]));
}

#[test]
fn reads() {
    assert_snapshot!(yaql(&["$.storage.backend = ceph and $x.y and now() > $.a['b']", "--reads"]));
    assert_snapshot!(yaql(&["$.nodes.len()", "--reads", "-o", "json"]));
    assert_snapshot!(yaql(&["1 + 1", "--reads"]));
}

#[test]
fn syntax_errors() {
    assert_snapshot!(yaql(&["$.nodes.where($.cpus >= ).name"]));
    assert_snapshot!(yaql(&["'ä' + ~"]));
    assert_snapshot!(yaql(&["[1,\n 2,\n 3"]));
    assert_snapshot!(yaql(&[""]));
}

#[test]
fn misspelled_names() {
    assert_snapshot!(yaql(&["$.cluster.nmae", "-d", CLUSTER]));
    assert_snapshot!(yaql(&["$.nodes.selekt($.name)", "-d", CLUSTER]));
    assert_snapshot!(yaql(&["lenn([1])"]));
    assert_snapshot!(yaql(&["where([1], true)"]));
}

#[test]
fn mismatched_operands_and_arguments() {
    assert_snapshot!(yaql(&["1 + 'a'"]));
    assert_snapshot!(yaql(&["not_there.len(1, 2, 3)"]));
    assert_snapshot!(yaql(&["$.name"]));
}

#[test]
fn errors_without_message_get_one() {
    assert_snapshot!(yaql(&["[].first()"]));
    assert_snapshot!(yaql(&["1 / 0"]));
    assert_snapshot!(yaql(&["assert(1, $ > 1, 'too small')"]));
}

#[test]
fn limits() {
    assert_snapshot!(yaql(&["range(20)", "--limit-iterators", "10"]));
    assert_snapshot!(yaql(&["'a' * 100000", "--memory-quota", "1000"]));
    assert_snapshot!(yaql(&["sequence().where(false).first()", "--limit-iterators", "-1", "--timeout", "1"]));
}

#[test]
fn infinite_recursion_is_limited() {
    assert_snapshot!(yaql(&["def(f, f($ + 1)) -> f(0)"]));
}

#[test]
fn long_line_is_truncated_around_the_error() {
    let expression = format!("{} + $.x.y + {}", "1 + ".repeat(100) + "1", "1 + ".repeat(100) + "1");
    assert_snapshot!(yaql(&[&expression]));
}

#[test]
fn terminal_escape_sequences_in_input_are_removed() {
    let output = run_bytes(&["yaql", "$.get('\u{1b}[31m').x"], b"");
    assert!(!output.stderr.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn color_always_enables_colors() {
    let output = run_bytes(&["yaql", "1 +", "--color", "always"], b"");
    assert!(output.stderr.contains(&0x1b));
}

#[test]
fn unreadable_data() {
    assert_snapshot!(yaql(&["$", "-d", "no/such/file.yaml"]));
    assert_snapshot!(run(&["yaql", "$", "-d", "-"], "{\"a\": 1,, \"b\": 2}"));
    assert_snapshot!(run(&["yaql", "$", "-d", "-"], "a: 1\n b: 2\n"));
    assert_snapshot!(run(&["yaql", "$", "-d", "-"], "a: 1\n---\nb: 2\n"));
    assert_snapshot!(run(&["yaql", "$", "-d", "-"], "{\"$yaql\": \"nonsense\"}"));
}

#[test]
fn data_with_a_warning_is_accepted() {
    assert_snapshot!(run(&["yaql", "$.a", "-d", "-"], "a: 1\na: 2\n"));
}

#[test]
fn data_that_is_not_utf8() {
    let output = run_bytes(&["yaql", "$", "-d", "-"], b"\xff\xfe");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn invalid_usage() {
    assert_snapshot!(yaql(&["1", "--var", "x", "--var", "y-z=1", "--var", "z=abc"]));
    assert_snapshot!(yaql(&["1", "--explain", "--reads"]));
    assert_snapshot!(yaql(&["1", "--outptu", "json"]));
    assert_snapshot!(yaql(&["1", "2"]));
    assert_snapshot!(run(&["yqal"], ""));
}

#[test]
fn help() {
    assert_snapshot!(run(&["--help"], ""));
    assert_snapshot!(yaql(&["--help"]));
}

#[test]
fn version() {
    let output = run_bytes(&["--version"], b"");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("stoker {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn completions_contain_options() {
    for shell in ["bash", "fish", "zsh"] {
        let script = run(&["completions", shell], "");
        assert!(script.contains("limit-iterators"), "{shell}");
    }
    assert!(run(&["completions", "tcsh"], "").starts_with("exit code 2"));
}

#[test]
fn unwritable_output_is_reported() {
    use std::process::{Command, Stdio};
    // A Linux device on which every write fails.
    let Ok(full) = std::fs::File::create("/dev/full") else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoker"));
    let output = command.args(["yaql", "1"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write the output: "));
}

#[test]
fn closed_pipe_is_not_an_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_stoker"))
        .args(["yaql", "range(9000)"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
