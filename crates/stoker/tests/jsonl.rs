//! `stoker yaql --jsonl`: the protocol over the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod program;

use program::{root, run_bytes};
use serde_json::{Value, json};
use stoker_yaql::json::{self, WriteOptions};

fn answers(input: &[u8]) -> Vec<Value> {
    let output = run_bytes(&["yaql", "--jsonl"], input);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn error_class(answer: &Value) -> &str {
    answer["err"].as_str().unwrap()
}

#[test]
fn requests_are_answered_in_order() {
    let input = b"{\"expr\": \"$ + $x\", \"data\": 1, \"vars\": {\"x\": 2}, \"id\": \"a\"}\n\n   \n{\"expr\": \"$.a\", \"data\": {}}";
    let expected = [json!({"ok": 3, "id": "a"}), json!({"err": "KeyError", "msg": "'a'"})];
    assert_eq!(answers(input), expected);
}

#[test]
fn bad_lines_cost_themselves_only() {
    let input = b"{\n[1]\n{\"expr\": 5}\n\xff\xfe\n\"x\"\n{\"expr\": \"1\"}\n";
    let found = answers(input);
    assert_eq!(found.len(), 6);
    for answer in &found[..5] {
        assert_eq!(error_class(answer), "ProtocolError");
        assert!(!answer["msg"].as_str().unwrap().is_empty());
    }
    assert_eq!(found[5], json!({"ok": 1}));
}

#[test]
fn a_line_may_be_long_but_not_endless() {
    let long = format!("{{\"expr\": \"$.len()\", \"data\": \"{}\"}}\n", "x".repeat(5 << 20));
    let endless = "y".repeat((16 << 20) + 1);
    let input = [long.as_str(), &endless, "\n{\"expr\": \"2\"}\n"].concat();
    let found = answers(input.as_bytes());
    assert_eq!(found[0], json!({"ok": 5 << 20}));
    assert_eq!(error_class(&found[1]), "ProtocolError");
    assert_eq!(found[2], json!({"ok": 2}));
}

#[test]
fn deep_nesting_is_answered() {
    let brackets = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let parens = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    let input = [
        json!({"expr": brackets(100)}).to_string(),
        json!({"expr": brackets(100_000)}).to_string(),
        json!({"expr": parens(100_000)}).to_string(),
        json!({"expr": "-".repeat(100_000) + "1"}).to_string(),
        format!("{{\"expr\": \"$\", \"data\": {}}}", brackets(100_000)),
        json!({"expr": "1"}).to_string(),
    ]
    .join("\n");
    let found = answers(input.as_bytes());
    assert_eq!(found.len(), 6);
    assert_eq!(found[5], json!({"ok": 1}));
}

#[test]
fn each_answer_comes_before_the_next_question() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_stoker"))
        .args(["yaql", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for number in 0..3 {
        writeln!(stdin, "{{\"expr\": \"{number}\"}}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{{\"ok\": {number}}}\n"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_clock_is_real_and_random_numbers_differ() {
    let input = b"{\"expr\": \"now().year\"}\n{\"expr\": \"random()\"}\n{\"expr\": \"random()\"}\n";
    let found = answers(input);
    assert!(found[0]["ok"].as_i64().unwrap() >= 2026);
    assert_ne!(found[1], found[2]);
}

/// Recorded answers of the reference implementation, where they lie beside the project.
#[test]
fn the_corpus_is_answered_as_recorded() {
    let Ok(corpus) = std::fs::read_to_string(root().join("../shared/data/yaql/corpus.jsonl")) else { return };
    let output = run_bytes(&["yaql", "--jsonl"], corpus.as_bytes());
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), corpus.lines().count());
    let mut differences = Vec::new();
    for (case, answer) in corpus.lines().zip(answers.lines()) {
        let (case, answer) = (json::parse(case).unwrap(), json::parse(answer).unwrap());
        let (want, got) = (exact(part(&case, "want").unwrap()), exact(&answer));
        if want != got {
            differences.push(format!("{:?}: want {want:?}, got {got:?}", part(&case, "id")));
        }
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Value and class of error as text, in which `1` and `1.0` differ and no digit of a number is lost.
fn exact(answer: &stoker_yaql::Value) -> [Option<String>; 2] {
    ["ok", "err"]
        .map(|key| part(answer, key).map(|value| json::write(value, &WriteOptions::default()).unwrap()))
}

fn part<'a>(object: &'a stoker_yaql::Value, key: &str) -> Option<&'a stoker_yaql::Value> {
    object.as_map().unwrap().get_str(key)
}
